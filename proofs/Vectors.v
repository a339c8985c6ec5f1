(** Vectors of rational numbers and of integers, and weighted sums of rows. *)

From Coq Require Import ZArith QArith List Bool Lia Lqa.
From Rosenblatt Require Import Claims.
Import ListNotations.
Open Scope Q_scope.

(** * Rational numbers *)

Lemma dot_nil x : dot x [] = 0.
Proof. now destruct x. Qed.

Lemma dot_comm x y : dot x y == dot y x.
Proof.
  revert y; induction x as [|a x IH]; intros [|b y]; simpl; try reflexivity.
  rewrite IH. ring.
Qed.

Lemma dot_plus x y z : dot (plus x y) z == dot x z + dot y z.
Proof.
  revert y z; induction x as [|a x IH]; intros [|b y] [|c z]; simpl; try ring.
  rewrite IH. ring.
Qed.

Lemma dot_times c x y : dot (times c x) y == c * dot x y.
Proof.
  revert y; induction x as [|a x IH]; intros [|b y]; simpl; try ring.
  unfold times in IH. rewrite IH. ring.
Qed.

Lemma square_nonnegative x : 0 <= dot x x.
Proof. induction x as [|a x IH]; simpl; [lra | nra]. Qed.

Lemma dot_of_zero_length x y : dot y y == 0 -> dot x y == 0.
Proof.
  revert x; induction y as [|b y IH]; intros [|a x] H; simpl in *; try reflexivity.
  pose proof (square_nonnegative y) as P.
  assert (B : b == 0) by nra.
  rewrite IH; [rewrite B; ring | nra].
Qed.

Lemma cauchy_schwarz x y : dot x y * dot x y <= dot x x * dot y y.
Proof.
  destruct (Qeq_dec (dot y y) 0) as [Z|N].
  { rewrite (dot_of_zero_length x y Z), Z. lra. }
  pose proof (square_nonnegative y) as P.
  pose proof (square_nonnegative (plus (times (dot y y) x) (times (- dot x y) y))) as S.
  rewrite dot_plus, !dot_times in S.
  rewrite (dot_comm x (plus _ _)), (dot_comm y (plus _ _)) in S.
  rewrite !dot_plus, !dot_times, (dot_comm y x) in S.
  assert (T : 0 <= dot y y * (dot x x * dot y y - dot x y * dot x y)) by lra.
  assert (L : 0 < dot y y) by lra.
  destruct (Qlt_le_dec (dot x x * dot y y) (dot x y * dot x y)) as [W|W]; [nra | exact W].
Qed.

(** * Integers *)

Notation whole := (map inject_Z).

Fixpoint dotZ (x y : list Z) : Z :=
  match x, y with a :: x, b :: y => (a * b + dotZ x y)%Z | _, _ => 0%Z end.

Fixpoint plusZ (x y : list Z) : list Z :=
  match x, y with a :: x, b :: y => (a + b)%Z :: plusZ x y | [], y => y | x, [] => x end.

Lemma over_one a p : a # p == inject_Z a * (1 # p).
Proof. unfold Qeq; simpl; lia. Qed.

Lemma dot_over x p w : dot (rational (Over x p)) w == dot (whole x) w * (1 # p).
Proof.
  revert w; induction x as [|a x IH]; intros [|b w]; simpl; try ring.
  unfold rational in IH; simpl in IH. rewrite IH, over_one. ring.
Qed.

Lemma dot_whole x y : dot (whole x) (whole y) == inject_Z (dotZ x y).
Proof.
  revert y; induction x as [|a x IH]; intros [|b y]; simpl; try reflexivity.
  rewrite IH, inject_Z_plus, inject_Z_mult. reflexivity.
Qed.

Lemma dot_integers u v :
  dot (rational u) (rational v)
  == inject_Z (dotZ (numbers u) (numbers v)) * (1 # denominator u) * (1 # denominator v).
Proof.
  destruct u as [x p], v as [y q]; simpl.
  rewrite dot_over, (dot_comm (whole x)), dot_over, (dot_comm (whole y)), dot_whole. ring.
Qed.

Lemma whole_plus x y w : dot (whole (plusZ x y)) w == dot (whole x) w + dot (whole y) w.
Proof.
  revert y w; induction x as [|a x IH]; intros [|b y] [|c w]; simpl; try ring.
  rewrite IH, inject_Z_plus. ring.
Qed.

Lemma whole_times c x w :
  dot (whole (map (fun a => a * c)%Z x)) w == inject_Z c * dot (whole x) w.
Proof.
  revert w; induction x as [|a x IH]; intros [|b w]; simpl; try ring.
  rewrite IH, inject_Z_mult. ring.
Qed.

Lemma whole_zero x w : forallb (Z.eqb 0) x = true -> dot (whole x) w == 0.
Proof.
  revert w; induction x as [|a x IH]; intros [|b w] H; simpl in *; try reflexivity.
  apply andb_true_iff in H as [A X]. destruct a; try discriminate A.
  rewrite IH by exact X. ring.
Qed.

Lemma inject_positive a : (0 < a)%Z -> 0 < inject_Z a.
Proof. now rewrite (Zlt_Qlt 0). Qed.

Lemma inject_nonnegative a : (0 <= a)%Z -> 0 <= inject_Z a.
Proof. now rewrite (Zle_Qle 0). Qed.

Lemma unit_positive p : 0 < 1 # p.
Proof. reflexivity. Qed.

Lemma product_of_units p : inject_Z (Zpos p) * (1 # p) == 1.
Proof. unfold Qeq; simpl; lia. Qed.

(** * Rows of samples as integers *)

Definition lifted (lift : Q) (c : Z) (x : vector) : vector :=
  Over ((c * Qnum lift * Zpos (denominator x)) :: map (fun a => a * (c * QDen lift)) (numbers x))%Z
       (Qden lift * denominator x).

Definition signed (lift : Q) (s : sample) : vector :=
  match s with Positive x => lifted lift 1 x | Negative x => lifted lift (-1) x end.

Lemma lifted_dot lift c x w :
  dot (rational (lifted lift c x)) w == inject_Z c * dot (lift :: rational x) w.
Proof.
  destruct x as [x r], lift as [p q], w as [|b w]; [reflexivity || (simpl; ring) |].
  pose proof (over_one p q) as P. pose proof (over_one (c * p * Zpos r) (q * r)) as C.
  pose proof (product_of_units r) as R. pose proof (product_of_units q) as U.
  assert (M : 1 # q * r == (1 # q) * (1 # r)) by reflexivity.
  unfold lifted. rewrite dot_over. simpl.
  rewrite whole_times, !inject_Z_mult. fold (rational (Over x r)).
  change (map (fun a : Z => a # r) x) with (rational (Over x r)).
  rewrite dot_over, P, M. 
  set (D := dot (whole x) w) in *. set (i := 1 # q) in *. set (j := 1 # r) in *.
  transitivity (inject_Z c * (inject_Z p * i * b * (inject_Z (Zpos r) * j)
                              + D * j * (inject_Z (Zpos q) * i))); [ring |].
  rewrite R, U. ring.
Qed.

Lemma signed_score lift w s : score lift w s == dot (rational (signed lift s)) w.
Proof. destruct s as [x|x]; unfold signed, score; rewrite lifted_dot; ring. Qed.

Definition rows lift data := map (signed lift) data.

Lemma Forall_rows (P : Q -> Prop) lift w data :
  (forall p q, p == q -> P p -> P q) ->
  Forall (fun s => P (score lift w s)) data
  <-> Forall (fun z => P (dot (rational z) w)) (rows lift data).
Proof.
  intro proper. unfold rows. rewrite Forall_map.
  split; apply Forall_impl; intros s; apply proper; [|symmetry]; apply signed_score.
Qed.

Lemma forallb_Forall {A} (f : A -> bool) (P : A -> Prop) l :
  (forall a, f a = true -> P a) -> forallb f l = true -> Forall P l.
Proof. intros H F. rewrite forallb_forall in F. apply Forall_forall. auto. Qed.

(** * Weighted sums *)

(** [y * p], by one addition for five or more binary digits of [p]: the weights [y] of
    certificates are long, and this takes a third of the time of a usual product. *)
Section Multiple.
  Variables y y3 y5 y7 y9 y11 y13 y15 y17 y19 y21 y23 y25 y27 y29 y31 : Z.

  Fixpoint multiple (p : positive) : Z :=
    (match p with
     | p~0 => Z.double (multiple p)
     | p~0~0~0~0~1 => y + 32 * multiple p
     | p~0~0~0~1~1 => y3 + 32 * multiple p
     | p~0~0~1~0~1 => y5 + 32 * multiple p
     | p~0~0~1~1~1 => y7 + 32 * multiple p
     | p~0~1~0~0~1 => y9 + 32 * multiple p
     | p~0~1~0~1~1 => y11 + 32 * multiple p
     | p~0~1~1~0~1 => y13 + 32 * multiple p
     | p~0~1~1~1~1 => y15 + 32 * multiple p
     | p~1~0~0~0~1 => y17 + 32 * multiple p
     | p~1~0~0~1~1 => y19 + 32 * multiple p
     | p~1~0~1~0~1 => y21 + 32 * multiple p
     | p~1~0~1~1~1 => y23 + 32 * multiple p
     | p~1~1~0~0~1 => y25 + 32 * multiple p
     | p~1~1~0~1~1 => y27 + 32 * multiple p
     | p~1~1~1~0~1 => y29 + 32 * multiple p
     | p~1~1~1~1~1 => y31 + 32 * multiple p
     | p => y * Zpos p
     end)%Z%positive.
End Multiple.

Definition scaled (y : Z) (x : list Z) : list Z :=
  (let y2 := Z.double y in
   let y3 := y + y2 in let y5 := y3 + y2 in let y7 := y5 + y2 in let y9 := y7 + y2 in
   let y11 := y9 + y2 in let y13 := y11 + y2 in let y15 := y13 + y2 in let y17 := y15 + y2 in
   let y19 := y17 + y2 in let y21 := y19 + y2 in let y23 := y21 + y2 in let y25 := y23 + y2 in
   let y27 := y25 + y2 in let y29 := y27 + y2 in let y31 := y29 + y2 in
   let times := multiple y y3 y5 y7 y9 y11 y13 y15 y17 y19 y21 y23 y25 y27 y29 y31 in
   map (fun a => match a with Z0 => 0 | Zpos p => times p | Zneg p => - times p end) x)%Z.

Lemma multiple_product y p :
  multiple y (3 * y) (5 * y) (7 * y) (9 * y) (11 * y) (13 * y) (15 * y) (17 * y) (19 * y)
    (21 * y) (23 * y) (25 * y) (27 * y) (29 * y) (31 * y) p = (y * Zpos p)%Z.
Proof.
  revert p. fix IH 1.
  intros [p|p|]; [|cbn [multiple]; rewrite IH, Z.double_spec; lia | reflexivity].
  destruct p as [p|p|]; [destruct p as [p|p|]| destruct p as [p|p|] |]; cbn [multiple];
    rewrite ?IH; try lia; destruct p as [p|p|]; cbn [multiple]; rewrite ?IH; try lia;
    destruct p as [p|p|]; cbn [multiple]; rewrite ?IH; lia.
Qed.

Lemma scaled_product y x : scaled y x = map (fun a => a * y)%Z x.
Proof.
  unfold scaled. rewrite Z.double_spec.
  replace (y + 2 * y)%Z with (3 * y)%Z by ring.
  repeat match goal with
         | |- context [(?k * y + 2 * y)%Z] =>
             let next := eval compute in (k + 2)%Z in
             replace (k * y + 2 * y)%Z with (next * y)%Z by ring
         end.
  apply map_ext. intros [|p|p]; rewrite ?multiple_product; lia.
Qed.

Fixpoint combination (weights : list Z) (rows : list (list Z)) : list Z :=
  match weights, rows with
  | y :: weights, z :: rows => plusZ (scaled y z) (combination weights rows)
  | _, _ => []
  end.

Fixpoint total (weights : list Z) (values : list Q) : Q :=
  match weights, values with
  | y :: weights, v :: values => inject_Z y * v + total weights values
  | _, _ => 0
  end.

Lemma combination_total weights zs w :
  dot (whole (combination weights zs)) w == total weights (map (fun z => dot (whole z) w) zs).
Proof.
  revert zs; induction weights as [|y weights IH]; intros [|z zs]; simpl; try reflexivity.
  rewrite whole_plus, scaled_product, whole_times, IH. reflexivity.
Qed.

(** As many weights as rows, all of them positive, and a sum of zero. *)
Definition balanced (weights : list Z) (zs : list (list Z)) : bool :=
  Nat.eqb (length weights) (length zs) && forallb (Z.ltb 0) weights
  && forallb (Z.eqb 0) (combination weights zs).

Lemma total_of_nonnegative weights values :
  length weights = length values -> Forall (fun y => 0 < y)%Z weights ->
  Forall (fun v => 0 <= v) values ->
  0 <= total weights values
  /\ (total weights values == 0 -> Forall (fun v => v == 0) values).
Proof.
  revert values; induction weights as [|y weights IH]; intros [|v values] L W V;
    simpl in *; try discriminate; [split; [lra | constructor] |].
  inversion L as [L']; inversion_clear W as [|? ? Y W']; inversion_clear V as [|? ? A V'].
  destruct (IH _ L' W' V') as [P E].
  assert (Y' : 0 < inject_Z y) by (rewrite (Zlt_Qlt 0) in Y; exact Y).
  split; [nra |]. intro T.
  assert (v == 0) by nra. constructor; [assumption | apply E; nra].
Qed.

Lemma balanced_values weights zs w :
  balanced weights (map numbers zs) = true ->
  Forall (fun z => 0 <= dot (rational z) w) zs -> Forall (fun z => dot (rational z) w == 0) zs.
Proof.
  unfold balanced. intros B N.
  apply andb_true_iff in B as [B S]. apply andb_true_iff in B as [L W].
  apply Nat.eqb_eq in L. apply (forallb_Forall _ (fun y => 0 < y)%Z) in W; [|intro; apply Z.ltb_lt].
  assert (scaled : forall z, dot (rational z) w == dot (whole (numbers z)) w * (1 # denominator z))
    by (intros []; apply dot_over).
  destruct (total_of_nonnegative weights (map (fun z => dot (whole z) w) (map numbers zs)))
    as [_ E]; auto.
  - now rewrite map_length.
  - rewrite map_map, Forall_map. revert N. apply Forall_impl. intros z.
    rewrite scaled. pose proof (unit_positive (denominator z)). nra.
  - rewrite <- combination_total, whole_zero in E by exact S. specialize (E (Qeq_refl 0)).
    rewrite map_map, Forall_map in E. revert E. apply Forall_impl. intros z E.
    rewrite scaled, E. ring.
Qed.
