(** Margins: checks that [w] has one, and that nothing has a larger one. *)

From Coq Require Import ZArith QArith List Bool Lia Lqa.
From Rosenblatt Require Import Claims Vectors Separation.
Import ListNotations.
Open Scope Q_scope.

(** * The margin of [w] *)

Definition squareZ (counts : bool) (x : list Z) : Z :=
  if counts then dotZ x x else dotZ (tl x) (tl x).

Lemma square_integers counts w :
  square counts (rational w)
  == inject_Z (squareZ counts (numbers w)) * (1 # denominator w) * (1 # denominator w).
Proof.
  destruct w as [[|b w] q], counts; try reflexivity; unfold square.
  - apply dot_integers.
  - simpl. apply (dot_integers (Over w q) (Over w q)).
Qed.

Definition check_margin (g lift : Q) (counts : bool) (w : vector) (data : list sample) : bool :=
  let length := squareZ counts (numbers w) in
  let most := (Qnum g * Qnum g * length)%Z in
  (0 <? Qnum g)%Z && (0 <? length)%Z
  && forallb (fun z => let p := valueZ w z in
                       let q := Zpos (denominator z) in
                       (0 <? p) && (most * (q * q) <=? p * QDen g * (p * QDen g)))%Z
             (rows lift data).

(** The same comparison of squares, in integers and over denominators [b], [q] and [k]. *)
Lemma squares_compare a b S p q k :
  (a * a * S * (Zpos q * Zpos q) <= p * Zpos b * (p * Zpos b))%Z ->
  (a # b) * (a # b) * (inject_Z S * (1 # k) * (1 # k))
  <= inject_Z p * (1 # q) * (1 # k) * (inject_Z p * (1 # q) * (1 # k)).
Proof.
  intro M. rewrite Zle_Qle, !inject_Z_mult in M. rewrite (over_one a).
  pose proof (product_of_units b) as B. pose proof (product_of_units q) as D.
  pose proof (unit_positive b) as B'. pose proof (unit_positive q) as D'.
  pose proof (unit_positive k) as W'.
  set (v := inject_Z p) in *. set (L := inject_Z S) in *. set (A := inject_Z a) in *.
  set (u := 1 # b) in *. set (d := 1 # q) in *. set (i := 1 # k) in *.
  set (U := inject_Z (Zpos b)) in *. set (V := inject_Z (Zpos q)) in *.
  assert (F : 0 <= u * d * i * (u * d * i)) by nra.
  assert (E : A * u * (A * u) * (L * i * i) * (V * d) * (V * d)
              == A * A * L * (V * V) * (u * d * i * (u * d * i))) by ring.
  assert (G : v * d * i * (v * d * i) * (U * u) * (U * u)
              == v * U * (v * U) * (u * d * i * (u * d * i))) by ring.
  rewrite B in G. rewrite D in E.
  setoid_replace (A * u * (A * u) * (L * i * i))
    with (A * A * L * (V * V) * (u * d * i * (u * d * i))) by lra.
  setoid_replace (v * d * i * (v * d * i))
    with (v * U * (v * U) * (u * d * i * (u * d * i))) by lra.
  now apply Qmult_le_compat_r.
Qed.

Theorem margin_is_at_least g lift counts w data :
  check_margin g lift counts w data = true -> has_margin g lift counts (rational w) data.
Proof.
  intro C. unfold check_margin in C. repeat rewrite andb_true_iff in C. destruct C as [[G L] C].
  apply Z.ltb_lt in G, L. split; [|split].
  { destruct g as [a b]. unfold Qlt; simpl in *. lia. }
  { rewrite square_integers. apply inject_positive in L.
    pose proof (unit_positive (denominator w)).
    apply Qmult_lt_0_compat; [apply Qmult_lt_0_compat |]; assumption. }
  apply (Forall_rows (fun v => 0 < v /\ g * g * square counts (rational w) <= v * v)).
  { intros p q E. rewrite E. auto. }
  revert C. apply forallb_Forall. intros z C.
  apply andb_true_iff in C as [P M]. apply Z.ltb_lt in P. apply Z.leb_le in M.
  split; [now apply value_positive |].
  rewrite square_integers, value_integers. destruct g as [a b]. now apply squares_compare.
Qed.

Theorem separation g lift counts w data :
  check_margin g lift counts w data = true ->
  separates lift (rational w) data /\ has_margin g lift counts (rational w) data.
Proof.
  intro C. apply margin_is_at_least in C. split; [|exact C].
  destruct C as [_ [_ C]]. revert C. apply Forall_impl. now intros s [P _].
Qed.

(** * The upper end of a margin interval *)

Fixpoint totalZ (weights : list Z) (zs : list vector) : Z :=
  match weights, zs with
  | y :: weights, z :: zs => (y * Zpos (denominator z) + totalZ weights zs)%Z
  | _, _ => 0%Z
  end.

Lemma combination_at_least weights zs w m :
  length weights = length zs -> Forall (fun y => 0 < y)%Z weights ->
  Forall (fun z => m <= dot (rational z) w) zs ->
  inject_Z (totalZ weights zs) * m <= dot (whole (combination weights (map numbers zs))) w.
Proof.
  revert zs; induction weights as [|y weights IH]; intros [|z zs] L W M;
    simpl in *; try discriminate.
  inversion L as [L']; inversion_clear W as [|? ? Y W']; inversion_clear M as [|? ? A M'].
  specialize (IH _ L' W' M'). apply inject_positive in Y.
  rewrite whole_plus, scaled_product, whole_times, inject_Z_plus, inject_Z_mult.
  destruct z as [x q]; simpl in *. rewrite dot_over in A.
  pose proof (product_of_units q) as U. pose proof (unit_positive q) as I.
  set (p := inject_Z (Zpos q)) in *. set (D := dot (whole x) w) in *. set (i := 1 # q) in *.
  assert (P : 0 < p) by reflexivity.
  assert (B : p * m <= D).
  { apply (Qmult_le_l _ _ p P) in A. setoid_replace (p * (D * i)) with (D * (p * i)) in A by ring.
    rewrite U in A. lra. }
  nra.
Qed.

Lemma least (values : list Q) :
  values <> [] -> exists m, In m values /\ Forall (fun v => m <= v) values.
Proof.
  induction values as [|v values IH]; [easy | intros _].
  destruct values as [|u values]; [exists v; repeat constructor; lra |].
  destruct IH as [m [I F]]; [easy |].
  destruct (Qlt_le_dec v m) as [L|L].
  - exists v. split; [now left |]. constructor; [lra |].
    revert F. apply Forall_impl. intros; lra.
  - exists m. split; [now right |]. now constructor.
Qed.

Definition check_upper (g lift : Q) (counts : bool) places weights data : bool :=
  let zs := rows lift (chosen data places) in
  let sum := combination weights (map numbers zs) in
  let all := totalZ weights zs in
  within data places && negb (Nat.eqb (length zs) 0)
  && Nat.eqb (length weights) (length zs) && forallb (Z.ltb 0) weights
  && (counts || (hd 0 sum =? 0)%Z)
  && (squareZ counts sum * (QDen g * QDen g) <=? Qnum g * Qnum g * (all * all))%Z.

Lemma totalZ_nonnegative weights zs :
  Forall (fun y => 0 < y)%Z weights -> (0 <= totalZ weights zs)%Z.
Proof.
  revert zs; induction weights as [|y weights IH]; intros [|z zs] W; simpl; try lia.
  inversion_clear W. specialize (IH zs ltac:(assumption)). nia.
Qed.

Lemma totalZ_positive weights zs :
  zs <> [] -> length weights = length zs -> Forall (fun y => 0 < y)%Z weights ->
  (0 < totalZ weights zs)%Z.
Proof.
  destruct weights as [|y weights], zs as [|z zs]; simpl; try easy.
  intros _ _ W. inversion_clear W.
  pose proof (totalZ_nonnegative weights zs ltac:(assumption)). nia.
Qed.

Lemma dot_of_counted counts sum w :
  (counts || (hd 0 sum =? 0)%Z)%bool = true ->
  dot (whole sum) w * dot (whole sum) w
  <= inject_Z (squareZ counts sum) * square counts w.
Proof.
  destruct counts; simpl; intro H.
  - rewrite <- dot_whole. apply cauchy_schwarz.
  - destruct sum as [|a sum], w as [|b w]; simpl in *;
      try (unfold inject_Z; rewrite ?Qmult_0_l, ?Qmult_0_r; apply Qle_refl).
    apply Z.eqb_eq in H. subst a. rewrite <- dot_whole.
    setoid_replace (inject_Z 0 * b + dot (whole sum) w) with (dot (whole sum) w) by ring.
    apply cauchy_schwarz.
Qed.

Theorem margin_is_at_most g lift counts places weights data :
  check_upper g lift counts places weights data = true ->
  forall w, ~ has_more_than g lift counts w data.
Proof.
  unfold check_upper. set (zs := rows lift (chosen data places)).
  set (sum := combination weights (map numbers zs)). set (all := totalZ weights zs).
  intros C w M. repeat rewrite andb_true_iff in C. destruct C as [[[[[W N] L] P] B] S].
  apply (chosen_Forall _ _ _ W) in M.
  apply (Forall_rows (fun v => 0 < v /\ g * g * square counts w < v * v)) in M;
    [|intros p q E; rewrite E; auto]. fold zs in M.
  assert (N' : zs <> []) by (destruct zs; easy).
  apply Nat.eqb_eq in L. apply (forallb_Forall _ (fun y => 0 < y)%Z) in P; [|intro; apply Z.ltb_lt].
  apply Z.leb_le in S.
  destruct (least (map (fun z => dot (rational z) w) zs)) as [m [I F]];
    [intro E; apply map_eq_nil in E; easy |].
  rewrite Forall_map in F. apply in_map_iff in I as [z [<- I]].
  rewrite Forall_forall in M. destruct (M z I) as [V G].
  set (m := dot (rational z) w) in *.
  pose proof (combination_at_least _ _ _ _ L P F) as T. fold sum in T. fold all in T.
  pose proof (dot_of_counted counts sum w B) as D.
  pose proof (inject_positive _ (totalZ_positive _ _ N' L P)) as A. fold all in A.
  destruct g as [a b]. rewrite (over_one a) in G. simpl in S.
  rewrite Zle_Qle, !inject_Z_mult in S.
  pose proof (product_of_units b) as U. pose proof (unit_positive b) as U'.
  set (X := square counts w) in *. set (Y := inject_Z (squareZ counts sum)) in *.
  set (i := 1 # b) in *. set (J := inject_Z (Zpos b)) in *. set (c := inject_Z a) in *.
  set (K := inject_Z all) in *. set (E := dot (whole sum) w) in *.
  assert (X0 : 0 <= X) by (unfold X, square; destruct counts; apply square_nonnegative).
  assert (S' : Y <= c * i * (c * i) * (K * K)).
  { setoid_replace Y with (Y * (J * J) * (i * i)) by
      (setoid_replace (Y * (J * J) * (i * i)) with (Y * (J * i) * (J * i)) by ring;
       rewrite U; ring).
    setoid_replace (c * i * (c * i) * (K * K)) with (c * c * (K * K) * (i * i)) by ring.
    apply Qmult_le_compat_r; [exact S | nra]. }
  assert (M0 : 0 <= K * m) by (apply Qmult_le_0_compat; lra).
  assert (R1 : K * m * (K * m) <= E * E) by nra.
  assert (R2 : Y * X <= c * i * (c * i) * (K * K) * X) by (apply Qmult_le_compat_r; assumption).
  assert (R3 : c * i * (c * i) * X * (K * K) < m * m * (K * K)).
  { apply Qmult_lt_r; [nra | exact G]. }
  lra.
Qed.
