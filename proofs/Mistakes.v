(** Mistakes: a check of the hinge-loss bound for perceptrons. *)

From Coq Require Import ZArith QArith List Bool Lia Lqa.
From Rosenblatt Require Import Claims Vectors Separation.
Import ListNotations.
Open Scope Q_scope.

(** The hinge loss of a row by [w]. *)
Definition loss (w z : vector) : Q :=
  let q := (denominator z * denominator w)%positive in Z.max 0 (Zpos q - valueZ w z) # q.

Definition losses lift w data : Q :=
  fold_right (fun z t => Qred (loss w z + t)) 0 (rows lift data).

Definition check_mistakes (bound lift : Q) passes (w : vector) (radius : Q) data : bool :=
  forallb (fun z => Qle_bool (dotZ (numbers z) (numbers z) # denominator z * denominator z) radius)
          (rows lift data)
  && Qle_bool 0 radius
  && let length := radius * (dotZ (numbers w) (numbers w) # denominator w * denominator w) in
     match passes with
     | Some most => Qle_bool (length + 2 * (Zpos most # 1) * losses lift w data) bound
     | None => Qle_bool (losses lift w data) 0 && Qle_bool length bound
     end.

Lemma loss_nonnegative w z : 0 <= loss w z.
Proof. unfold loss, Qle; simpl. lia. Qed.

Lemma loss_enough w z : 1 - loss w z <= dot (rational z) (rational w).
Proof.
  rewrite value_integers. unfold loss. set (q := (denominator z * denominator w)%positive).
  assert (V : inject_Z (valueZ w z) * (1 # denominator z) * (1 # denominator w)
              == inject_Z (valueZ w z) * (1 # q)) by (unfold Qeq, q; simpl; lia).
  rewrite V, (over_one (Z.max _ _)), <- (product_of_units q).
  assert (M : inject_Z (Zpos q) - inject_Z (Z.max 0 (Zpos q - valueZ w z))
              <= inject_Z (valueZ w z))
    by (unfold Qminus; rewrite <- inject_Z_opp, <- inject_Z_plus, <- Zle_Qle; lia).
  pose proof (unit_positive q). nra.
Qed.

Lemma losses_sum lift w data : losses lift w data == sum (map (loss w) (rows lift data)).
Proof.
  unfold losses. induction (rows lift data) as [|z zs IH]; [reflexivity |].
  cbn [fold_right map sum]. now rewrite Qred_correct, IH.
Qed.

Lemma sum_nonnegative {A} (f : A -> Q) l : (forall i, 0 <= f i) -> 0 <= sum (map f l).
Proof. intro F. induction l as [|i l IH]; simpl; [lra |]. specialize (F i). lra. Qed.

Lemma signed_row_score lift w s : dot (signed_row lift s) w == score lift w s.
Proof. destruct s as [x|x]; [reflexivity |]. unfold signed_row. rewrite dot_times. simpl. ring. Qed.

Lemma signed_row_square lift s :
  dot (signed_row lift s) (signed_row lift s)
  == dot (rational (signed lift s)) (rational (signed lift s)).
Proof. now rewrite signed_row_score, signed_score, dot_comm, signed_row_score, signed_score. Qed.

Lemma count_S k : count (S k) == 1 + count k.
Proof. unfold count. rewrite Nat2Z.inj_succ, <- Z.add_1_l, inject_Z_plus. reflexivity. Qed.

(** Each mistake adds to [w*u] and keeps the length of [w] small. *)
Lemma progress eta lift u radius samples w :
  0 < eta ->
  Forall (fun s => dot (rational (signed lift s)) (rational (signed lift s)) <= radius) samples ->
  exists w',
    dot w (rational u)
    + eta * (count (mistakes eta lift w samples) - sum (map (loss u) (rows lift samples)))
    <= dot w' (rational u)
    /\ dot w' w' <= dot w w + eta * eta * (count (mistakes eta lift w samples) * radius).
Proof.
  intros E. revert w. induction samples as [|s samples IH]; intros w R.
  - exists w. unfold rows; simpl. change (count 0) with 0. split; lra.
  - inversion_clear R as [|? ? R1 R2]. unfold rows in *; simpl.
    pose proof (loss_nonnegative u (signed lift s)) as N.
    destruct (Qle_bool (score lift w s) 0) eqn:M.
    + apply Qle_bool_iff in M.
      destruct (IH (plus w (times eta (signed_row lift s))) R2) as [w' [P L]].
      exists w'. rewrite count_S. set (k := count (mistakes eta lift _ samples)) in *.
      rewrite dot_plus, dot_times in P, L.
      rewrite (dot_comm w (plus _ _)), (dot_comm (signed_row _ _) (plus _ _)) in L.
      rewrite !dot_plus, !dot_times, signed_row_square, (dot_comm w (signed_row _ _)),
        signed_row_score in L.
      rewrite signed_row_score, signed_score in P.
      pose proof (loss_enough u (signed lift s)) as O.
      set (z := rational (signed lift s)) in *. set (t := sum (map (loss u) _)) in *.
      split; [nra |].
      assert (0 <= eta * eta * (radius - dot z z)) by (apply Qmult_le_0_compat; nra).
      assert (0 <= eta * - score lift w s) by (apply Qmult_le_0_compat; lra).
      lra.
    + destruct (IH w R2) as [w' [P L]]. exists w'. split; [|exact L].
      set (k := count (mistakes eta lift _ samples)) in *. set (t := sum (map (loss u) _)) in *.
      assert (0 <= eta * loss u (signed lift s)) by (apply Qmult_le_0_compat; lra).
      lra.
Qed.

Lemma mistakes_of_losses eta lift u radius samples :
  0 < eta -> 0 <= radius ->
  Forall (fun s => dot (rational (signed lift s)) (rational (signed lift s)) <= radius) samples ->
  count (mistakes eta lift [] samples)
  <= radius * dot (rational u) (rational u) + 2 * sum (map (loss u) (rows lift samples)).
Proof.
  intros E R F. destruct (progress eta lift u radius samples [] E F) as [w [P L]].
  simpl in P, L.
  assert (K : 0 <= count (mistakes eta lift [] samples))
    by (apply inject_nonnegative; lia).
  set (k := count (mistakes eta lift [] samples)) in *. set (t := sum _) in *.
  assert (T : 0 <= t) by (apply sum_nonnegative, loss_nonnegative).
  pose proof (square_nonnegative (rational u)) as U.
  pose proof (cauchy_schwarz w (rational u)) as CS.
  set (W := dot w w) in *. set (V := dot w (rational u)) in *.
  set (Y := dot (rational u) (rational u)) in *.
  destruct (Qlt_le_dec (radius * Y + 2 * t) k) as [C|C]; [exfalso | exact C].
  assert (A0 : 0 <= radius * Y) by (apply Qmult_le_0_compat; assumption).
  assert (B1 : eta * (k - t) * (eta * (k - t)) <= V * V).
  { assert (0 <= eta * (k - t)) by (apply Qmult_le_0_compat; lra). nra. }
  assert (B2 : W * Y <= eta * eta * (k * radius) * Y) by (apply Qmult_le_compat_r; lra).
  assert (B3 : eta * eta * ((k - t) * (k - t)) <= eta * eta * (k * (radius * Y))) by lra.
  apply Qmult_le_l in B3; [|nra].
  assert (B4 : 0 < k * (k - 2 * t - radius * Y)) by (apply Qmult_lt_0_compat; lra).
  nra.
Qed.

(** * Samples that come several times *)

Lemma count_once (f : nat -> Q) order i l :
  NoDup l -> In i l ->
  sum (map (fun j => count (count_occ Nat.eq_dec (i :: order) j) * f j) l)
  == f i + sum (map (fun j => count (count_occ Nat.eq_dec order j) * f j) l).
Proof.
  induction l as [|j l IH]; [easy |]. intros D I. inversion_clear D as [|? ? N D'].
  destruct I as [->|I]; simpl.
  - destruct (Nat.eq_dec i i); [|easy]. rewrite count_S.
    replace (map (fun j => count (if Nat.eq_dec i j then S (count_occ Nat.eq_dec order j)
                                  else count_occ Nat.eq_dec order j) * f j) l)
      with (map (fun j => count (count_occ Nat.eq_dec order j) * f j) l); [ring |].
    apply map_ext_in. intros a A. destruct (Nat.eq_dec i a); [now subst a | reflexivity].
  - destruct (Nat.eq_dec i j); [now subst j |]. simpl in IH. rewrite IH by assumption. ring.
Qed.

Lemma sum_by_counts (f : nat -> Q) l order :
  NoDup l -> (forall i, In i order -> In i l) ->
  sum (map f order) == sum (map (fun j => count (count_occ Nat.eq_dec order j) * f j) l).
Proof.
  intros D. induction order as [|i order IH]; intros I.
  - simpl. clear. induction l as [|j l IH]; simpl; [reflexivity |].
    rewrite <- IH. change (count 0) with 0. ring.
  - rewrite count_once by (try assumption; apply I; now left).
    simpl. rewrite IH; [reflexivity |]. intros j J. apply I. now right.
Qed.

Lemma sum_at_most (f : nat -> Q) most l order :
  (forall i, 0 <= f i) -> (forall i, count_occ Nat.eq_dec order i <= most)%nat ->
  sum (map (fun j => count (count_occ Nat.eq_dec order j) * f j) l) <= count most * sum (map f l).
Proof.
  intros F C. induction l as [|j l IH]; simpl; [rewrite Qmult_0_r; lra |].
  specialize (C j). specialize (F j).
  assert (count (count_occ Nat.eq_dec order j) <= count most)
    by (unfold count; rewrite <- Zle_Qle; lia).
  nra.
Qed.

Lemma nth_of_all {A} (data : list A) default :
  map (fun i => nth i data default) (seq 0 (length data)) = data.
Proof.
  induction data as [|a data IH]; [reflexivity |]. simpl. f_equal.
  now rewrite <- seq_shift, map_map.
Qed.

Theorem mistakes_are_bounded bound lift passes w radius data :
  check_mistakes bound lift passes w radius data = true ->
  mistakes_at_most bound lift passes data.
Proof.
  unfold check_mistakes. intros C eta order E I P. repeat rewrite andb_true_iff in C.
  destruct C as [[R N] B]. apply Qle_bool_iff in N.
  assert (W : within data order = true).
  { apply forallb_forall. intros i O. apply Nat.ltb_lt. rewrite Forall_forall in I. now apply I. }
  assert (R' : Forall (fun s => dot (rational (signed lift s)) (rational (signed lift s)) <= radius)
                      data).
  { rewrite forallb_forall in R. apply Forall_forall. intros s S.
    specialize (R (signed lift s) (in_map _ _ _ S)). apply Qle_bool_iff in R.
    rewrite dot_integers. revert R. apply Qle_trans, Qle_lteq. right.
    unfold Qeq; simpl. lia. }
  pose proof (mistakes_of_losses eta lift w radius _ E N (chosen_Forall _ _ _ W R')) as M.
  set (f := fun i => loss w (signed lift (nth i data (Positive (Over [] 1))))).
  assert (F : forall i, 0 <= f i) by (intro; apply loss_nonnegative).
  assert (S : sum (map (loss w) (rows lift (chosen data order))) == sum (map f order))
    by (unfold rows, chosen; now rewrite !map_map).
  assert (T : losses lift w data == sum (map f (seq 0 (length data)))).
  { rewrite losses_sum. unfold rows. rewrite map_map.
    rewrite <- (nth_of_all data (Positive (Over [] 1))) at 1. now rewrite map_map. }
  assert (D : sum (map f order)
              == sum (map (fun j => count (count_occ Nat.eq_dec order j) * f j)
                          (seq 0 (length data)))).
  { apply sum_by_counts; [apply seq_NoDup |]. intros i O. apply in_seq.
    rewrite Forall_forall in I. specialize (I i O). lia. }
  assert (U : dot (rational w) (rational w)
              == dotZ (numbers w) (numbers w) # denominator w * denominator w)
    by (rewrite dot_integers; unfold Qeq; simpl; lia).
  rewrite S, U in M.
  destruct passes as [most|].
  - apply Qle_bool_iff in B.
    pose proof (sum_at_most f (Pos.to_nat most) (seq 0 (length data)) order F (P most eq_refl))
      as A.
    rewrite <- D, <- T in A. unfold count in A. rewrite positive_nat_Z in A.
    change (inject_Z (Z.pos most)) with (Z.pos most # 1) in A. lra.
  - apply andb_true_iff in B as [Z B]. apply Qle_bool_iff in Z, B.
    assert (zero : forall i, (i < length data)%nat -> f i == 0).
    { intros i L. rewrite T in Z. clear - F Z L.
      assert (J : In i (seq 0 (length data))) by (apply in_seq; lia).
      induction (seq 0 (length data)) as [|j l IH]; simpl in *; [easy |].
      pose proof (F j). pose proof (sum_nonnegative f l F).
      destruct J as [->|J]; [lra | apply IH; [lra | exact J]]. }
    assert (sum (map f order) == 0).
    { clear - I zero. induction order as [|i order IH]; simpl; [reflexivity |].
      inversion_clear I. rewrite zero, IH by assumption. ring. }
    lra.
Qed.
