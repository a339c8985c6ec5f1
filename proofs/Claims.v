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

(** * Many classes at once *)

(** A sample of a class; classes count from 0. *)
Record member := Of { class : nat; features : vector }.

(** By how much the score of the sample's own class is above that of another one. [W] has the
    weights of each class, the intercept of each, times [lift], before the others. *)
Definition lead (lift : Q) (W : list (list Q)) (m : member) (other : nat) : Q :=
  let score c := dot (lift :: rational (features m)) (nth c W []) in
  score (class m) - score other.

Definition other_class (classes : nat) (m : member) (c : nat) : Prop :=
  (c < classes)%nat /\ c <> class m.

Definition tells_apart classes lift W data :=
  Forall (fun m => forall c, other_class classes m c -> 0 < lead lift W m c) data.

Definition tells_apart_weakly classes lift W data :=
  Forall (fun m => forall c, other_class classes m c -> 0 <= lead lift W m c) data
  /\ Exists (fun m => exists c, other_class classes m c /\ 0 < lead lift W m c) data.

Fixpoint sum (values : list Q) : Q :=
  match values with [] => 0 | v :: values => v + sum values end.

(** [lead >= g * length W] for a positive [g], without a root; intercepts do not count in it. *)
Definition has_joint_margin (g : Q) classes lift W data :=
  let length2 := sum (map (square false) W) in
  0 < g /\ 0 < length2
  /\ Forall (fun m => forall c, other_class classes m c ->
                0 < lead lift W m c /\ g * g * length2 <= lead lift W m c * lead lift W m c) data.

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
