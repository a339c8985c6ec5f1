(** Systems: checks that a point satisfies one, or that nothing does. *)

From Coq Require Import ZArith QArith List Bool Lia Lqa.
From Rosenblatt Require Import Claims Vectors.
Import ListNotations.
Open Scope Q_scope.

Definition weight_fits (y : Z) (r : row) : bool :=
  match sign r with Equal => true | _ => (0 <? y)%Z end.

Fixpoint weights_fit (weights : list Z) (system : list row) : bool :=
  match weights, system with
  | y :: weights, r :: system => weight_fits y r && weights_fit weights system
  | [], [] => true
  | _, _ => false
  end.

Definition strict (r : row) : bool := match sign r with MoreThan => true | _ => false end.

(** The weighted rows say that 0 is at least a positive number, or more than a number that is not
    negative. *)
Definition check_infeasible (weights : list Z) (system : list row) : bool :=
  let sum := dotZ (map right system) weights in
  weights_fit weights system
  && forallb (Z.eqb 0) (combination weights (map left system))
  && ((0 <? sum)%Z || (sum =? 0)%Z && existsb strict system).

Definition excess (x : list Q) (r : row) : Q := dot (whole (left r)) x - inject_Z (right r).

Lemma compares_excess x r :
  compares (sign r) (dot (rational (Over (left r) (over r))) x) (right r # over r) ->
  match sign r with AtLeast => 0 <= excess x r | MoreThan => 0 < excess x r
                  | Equal => excess x r == 0 end.
Proof.
  unfold excess. pose proof (unit_positive (over r)) as U.
  destruct (sign r); unfold compares; intro C; rewrite dot_over, (over_one (right r)) in C.
  - apply Qmult_le_r in C; [lra | exact U].
  - apply Qmult_lt_r in C; [lra | exact U].
  - apply Qmult_inj_r in C; [rewrite C; ring | lra].
Qed.

Lemma total_excess weights system x :
  weights_fit weights system = true -> satisfies x system ->
  0 <= total weights (map (excess x) system)
  /\ (existsb strict system = true -> 0 < total weights (map (excess x) system)).
Proof.
  revert system; induction weights as [|y weights IH]; intros [|r system] W S;
    simpl in *; try discriminate; [split; [lra | easy] |].
  apply andb_true_iff in W as [F W]. inversion_clear S as [|? ? C S'].
  apply compares_excess in C. destruct (IH _ W S') as [N P].
  unfold weight_fits in F. unfold strict at 1.
  destruct (sign r); [apply Z.ltb_lt, inject_positive in F ..|]; simpl.
  - split; [nra | intro E; specialize (P E); nra].
  - split; [nra | intros _; nra].
  - rewrite C, Qmult_0_r. split; [lra | intro E; specialize (P E); lra].
Qed.

Lemma total_excess_sum weights system x :
  total weights (map (excess x) system)
  == dot (whole (combination weights (map left system))) x
     - inject_Z (dotZ (map right system) weights).
Proof.
  revert system; induction weights as [|y weights IH]; intros [|r system]; simpl; try ring.
  rewrite IH, whole_plus, scaled_product, whole_times, inject_Z_plus, inject_Z_mult.
  unfold excess. ring.
Qed.

Theorem no_solution weights system :
  check_infeasible weights system = true -> forall x, ~ satisfies x system.
Proof.
  unfold check_infeasible. intros C x S. repeat rewrite andb_true_iff in C.
  destruct C as [[W Z] R]. destruct (total_excess _ _ _ W S) as [N P].
  rewrite total_excess_sum, whole_zero in N, P by exact Z.
  apply orb_true_iff in R as [R|R].
  - apply Z.ltb_lt, inject_positive in R. lra.
  - apply andb_true_iff in R as [R E]. apply Z.eqb_eq in R. rewrite R in P.
    specialize (P E). unfold inject_Z in P. lra.
Qed.

Definition check_point (x : vector) (system : list row) : bool :=
  forallb (fun r => let p := dotZ (left r) (numbers x) in
                    let q := right r * Zpos (denominator x) in
                    match sign r with
                    | AtLeast => q <=? p | MoreThan => q <? p | Equal => p =? q
                    end)%Z system.

Theorem solution x system : check_point x system = true -> satisfies (rational x) system.
Proof.
  apply forallb_Forall. intros r C.
  set (u := (1 # over r) * (1 # denominator x)).
  assert (U : 0 < u) by reflexivity.
  assert (L : dot (rational (Over (left r) (over r))) (rational x)
              == inject_Z (dotZ (left r) (numbers x)) * u)
    by (rewrite dot_integers; unfold u; simpl; ring).
  assert (R : right r # over r == inject_Z (right r * Zpos (denominator x)) * u).
  { rewrite (over_one (right r)), inject_Z_mult. unfold u.
    rewrite <- (Qmult_1_r (inject_Z (right r))) at 1.
    rewrite <- (product_of_units (denominator x)). ring. }
  unfold compares. destruct (sign r); rewrite L, R.
  - apply Z.leb_le in C. rewrite Zle_Qle in C. apply Qmult_le_compat_r; [exact C | lra].
  - apply Z.ltb_lt in C. rewrite Zlt_Qlt in C. now apply Qmult_lt_r.
  - apply Z.eqb_eq in C. now rewrite C.
Qed.
