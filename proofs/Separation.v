(** Two classes: checks that nothing separates them, or that [w] does weakly. *)

From Coq Require Import ZArith QArith List Bool Lia Lqa.
From Rosenblatt Require Import Claims Vectors.
Import ListNotations.
Open Scope Q_scope.

(** * Non-separability and inseparability *)

Definition check_balance (lift : Q) (weights : list Z) (data : list sample) : bool :=
  balanced weights (map numbers (rows lift data)).

Lemma balance lift weights data w :
  check_balance lift weights data = true ->
  Forall (fun s => 0 <= score lift w s) data -> Forall (fun s => score lift w s == 0) data.
Proof.
  intros C H.
  apply (Forall_rows (fun v => 0 <= v)) in H; [|intros p q E; rewrite E; auto].
  apply (Forall_rows (fun v => v == 0)); [intros p q E; rewrite E; auto |].
  exact (balanced_values _ _ _ C H).
Qed.

Theorem no_weak_separation lift weights data :
  check_balance lift weights data = true -> forall w, ~ separates_weakly lift w data.
Proof.
  intros C w [N E]. pose proof (balance _ _ _ _ C N) as Z.
  rewrite Forall_forall in Z. apply Exists_exists in E as [s [I P]].
  specialize (Z s I). lra.
Qed.

Theorem no_separation lift weights data :
  check_balance lift weights data && negb (Nat.eqb (length data) 0) = true ->
  forall w, ~ separates lift w data.
Proof.
  intros C w S. apply andb_true_iff in C as [C L].
  apply (no_weak_separation _ _ _ C w). split.
  - revert S. apply Forall_impl. intros; lra.
  - destruct data; [discriminate |]. inversion_clear S. now constructor.
Qed.

(** * Separators *)

Definition valueZ (w : vector) (z : vector) : Z := dotZ (numbers z) (numbers w).

Lemma value_integers w z :
  dot (rational z) (rational w)
  == inject_Z (valueZ w z) * (1 # denominator z) * (1 # denominator w).
Proof. apply dot_integers. Qed.

Lemma value_positive w z : (0 < valueZ w z)%Z -> 0 < dot (rational z) (rational w).
Proof.
  intro P. rewrite value_integers. apply inject_positive in P.
  pose proof (unit_positive (denominator z)). pose proof (unit_positive (denominator w)).
  apply Qmult_lt_0_compat; [apply Qmult_lt_0_compat |]; assumption.
Qed.

Lemma value_nonnegative w z : (0 <= valueZ w z)%Z -> 0 <= dot (rational z) (rational w).
Proof.
  intro P. rewrite value_integers. apply inject_nonnegative in P.
  pose proof (unit_positive (denominator z)). pose proof (unit_positive (denominator w)).
  apply Qmult_le_0_compat; [apply Qmult_le_0_compat |]; lra.
Qed.

Definition check_weakly (lift : Q) (w : vector) (data : list sample) : bool :=
  forallb (fun z => 0 <=? valueZ w z)%Z (rows lift data)
  && existsb (fun z => 0 <? valueZ w z)%Z (rows lift data).

Theorem weak_separation lift w data :
  check_weakly lift w data = true -> separates_weakly lift (rational w) data.
Proof.
  intro C. apply andb_true_iff in C as [N E]. split.
  - apply (Forall_rows (fun v => 0 <= v)); [intros p q H; rewrite H; auto |].
    revert N. apply forallb_Forall. intros z P. apply value_nonnegative. now apply Z.leb_le.
  - apply existsb_exists in E as [z [I P]]. apply in_map_iff in I as [s [<- I]].
    apply Exists_exists. exists s. split; [exact I |].
    rewrite signed_score. apply value_positive. now apply Z.ltb_lt.
Qed.

(** * Rows chosen from the data *)

Definition within (data : list sample) (places : list nat) : bool :=
  forallb (fun i => i <? length data)%nat places.

Lemma chosen_Forall P data places :
  within data places = true -> Forall P data -> Forall P (chosen data places).
Proof.
  intros W F. unfold chosen. rewrite Forall_map. revert W. apply forallb_Forall.
  intros i L. apply Nat.ltb_lt in L. rewrite Forall_forall in F. apply F. now apply nth_In.
Qed.

Definition check_balance_of places lift weights data : bool :=
  within data places && check_balance lift weights (chosen data places)
  && negb (Nat.eqb (length (chosen data places)) 0).

Theorem no_separation_by places lift weights data :
  check_balance_of places lift weights data = true -> forall w, ~ separates lift w data.
Proof.
  intros C w S. apply andb_true_iff in C as [C N]. apply andb_true_iff in C as [W B].
  apply (no_separation lift weights (chosen data places)) with (w := w).
  - now rewrite B, N.
  - now apply chosen_Forall.
Qed.
