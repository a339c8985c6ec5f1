(** What certificates claim, in rational numbers: all that one has to read in order to know what a
    theorem of an exported proof says. *)

From Coq Require Import ZArith QArith List.
Import ListNotations.
Open Scope Q_scope.

(** * Vectors *)

(** Integers over a common denominator. *)
Record vector := Over { numbers : list Z; denominator : positive }.

Definition rational (v : vector) : list Q := map (fun a => a # denominator v) (numbers v).

(** Numbers at places, which count from 0; all others are zero. *)
Fixpoint put (place : nat) (a : Z) (x : list Z) : list Z :=
  match place, x with
  | O, _ :: x => a :: x
  | O, [] => [a]
  | S place, b :: x => b :: put place a x
  | S place, [] => 0%Z :: put place a []
  end.

Definition sparse (entries : list (Z * Z)) : list Z :=
  fold_right (fun entry => put (Z.to_nat (fst entry)) (snd entry)) [] entries.

(** A list that ends early goes on with zeros. *)
Fixpoint dot (x y : list Q) : Q :=
  match x, y with a :: x, b :: y => a * b + dot x y | _, _ => 0 end.

Fixpoint plus (x y : list Q) : list Q :=
  match x, y with a :: x, b :: y => (a + b) :: plus x y | [], y => y | x, [] => x end.

Definition times (c : Q) (x : list Q) : list Q := map (Qmult c) x.

(** * Two classes *)

(** A sample of the positive or of the negative class. *)
Inductive sample := Positive (x : vector) | Negative (x : vector).

(** The first number of [w] is its intercept, times a constant [lift] that is put before the
    features: 1 for a usual intercept, 0 for none. *)
Definition score (lift : Q) (w : list Q) (s : sample) : Q :=
  match s with
  | Positive x => dot (lift :: rational x) w
  | Negative x => - dot (lift :: rational x) w
  end.

Definition separates lift w data := Forall (fun s => 0 < score lift w s) data.

Definition separates_weakly lift w data :=
  Forall (fun s => 0 <= score lift w s) data /\ Exists (fun s => 0 < score lift w s) data.

(** The square of the length of [w], which leaves out a free intercept, but not one that counts. *)
Definition square (counts : bool) (w : list Q) : Q :=
  if counts then dot w w else dot (tl w) (tl w).

(** [score >= g * length w] for a positive [g], and [score > g * length w], without a root. *)
Definition has_margin (g lift : Q) (counts : bool) w data :=
  0 < g /\ 0 < square counts w
  /\ Forall (fun s => 0 < score lift w s
                      /\ g * g * square counts w <= score lift w s * score lift w s) data.

Definition has_more_than (g lift : Q) (counts : bool) w data :=
  Forall (fun s => 0 < score lift w s
                   /\ g * g * square counts w < score lift w s * score lift w s) data.

(** * Systems of inequalities and equations *)

Inductive relation := AtLeast | MoreThan | Equal.

(** [a*x >= b], [a*x > b] or [a*x = b]; all numbers are over one denominator. *)
Record row := Row { left : list Z; sign : relation; right : Z; over : positive }.

Definition compares (r : relation) (p q : Q) : Prop :=
  match r with AtLeast => q <= p | MoreThan => q < p | Equal => p == q end.

Definition satisfies (x : list Q) (system : list row) : Prop :=
  Forall (fun r => compares (sign r) (dot (rational (Over (left r) (over r))) x)
                            (right r # over r)) system.

(** * Mistakes of a perceptron *)

Definition signed_row (lift : Q) (s : sample) : list Q :=
  match s with
  | Positive x => lift :: rational x
  | Negative x => times (-(1)) (lift :: rational x)
  end.

(** The mistakes on samples that come one by one, a score of zero included: each adds
    [eta] times the sample, signed by its class, to [w]. *)
Fixpoint mistakes (eta lift : Q) (w : list Q) (samples : list sample) : nat :=
  match samples with
  | [] => O
  | s :: rest =>
      if Qle_bool (score lift w s) 0
      then S (mistakes eta lift (plus w (times eta (signed_row lift s))) rest)
      else mistakes eta lift w rest
  end.

Definition chosen (data : list sample) (order : list nat) : list sample :=
  map (fun i => nth i data (Positive (Over [] 1))) order.

Definition count (k : nat) : Q := inject_Z (Z.of_nat k).

(** A perceptron from zero makes at most [bound] mistakes, whatever its learning rate, if every
    sample is presented at most [passes] times, in any order; [None] is any number of times. *)
Definition mistakes_at_most (bound lift : Q) (passes : option positive) (data : list sample) :=
  forall eta order, 0 < eta ->
    Forall (fun i => (i < length data)%nat) order ->
    (forall most, passes = Some most ->
      forall i, (count_occ Nat.eq_dec order i <= Pos.to_nat most)%nat) ->
    count (mistakes eta lift [] (chosen data order)) <= bound.
