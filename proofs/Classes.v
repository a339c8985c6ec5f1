(** Many classes at once: checks that nothing tells them apart, or that [W] does. *)

From Coq Require Import ZArith QArith List Bool Lia Lqa.
From Rosenblatt Require Import Claims Vectors Separation Margins.
Import ListNotations.
Open Scope Q_scope.

(** * Samples, each with each class but its own *)

Definition pairs (classes : nat) (data : list member) : list (member * nat) :=
  flat_map (fun m => map (pair m) (filter (fun c => negb (c =? class m)%nat) (seq 0 classes))) data.

Lemma in_pairs classes data m c :
  In (m, c) (pairs classes data) <-> In m data /\ other_class classes m c.
Proof.
  unfold pairs, other_class. rewrite in_flat_map. split.
  - intros [n [I J]]. apply in_map_iff in J as [d [E J]]. inversion E; subst n d.
    apply filter_In in J as [J N]. apply in_seq in J.
    apply negb_true_iff, Nat.eqb_neq in N. split; [exact I | lia].
  - intros [I [L N]]. exists m. split; [exact I |]. apply in_map, filter_In.
    split; [apply in_seq; lia | now apply negb_true_iff, Nat.eqb_neq].
Qed.

Lemma Forall_pairs (P : member -> nat -> Prop) classes data :
  Forall (fun m => forall c, other_class classes m c -> P m c) data
  <-> Forall (fun p => P (fst p) (snd p)) (pairs classes data).
Proof.
  rewrite !Forall_forall. split.
  - intros H [m c] I. apply in_pairs in I as [I O]. now apply H.
  - intros H m I c O. apply (H (m, c)). now apply in_pairs.
Qed.

Lemma Exists_pairs (P : member -> nat -> Prop) classes data :
  Exists (fun m => exists c, other_class classes m c /\ P m c) data
  <-> Exists (fun p => P (fst p) (snd p)) (pairs classes data).
Proof.
  rewrite !Exists_exists. split.
  - intros [m [I [c [O H]]]]. exists (m, c). split; [now apply in_pairs | exact H].
  - intros [[m c] [I H]]. apply in_pairs in I as [I O]. exists m. split; [exact I |]. now exists c.
Qed.

(** * Non-separability and inseparability *)

(** What a pair adds to the weights of class [k]: the sample, or less it, or nothing. *)
Definition block (lift : Q) (k : nat) (p : member * nat) : list Z :=
  if (class (fst p) =? k)%nat then numbers (lifted lift 1 (features (fst p)))
  else if (snd p =? k)%nat then numbers (lifted lift (-1) (features (fst p))) else [].

Definition check_leads (classes : nat) (lift : Q) (weights : list Z) (ps : list (member * nat)) :=
  forallb (fun p => (class (fst p) <? classes) && (snd p <? classes)
                    && negb (class (fst p) =? snd p))%nat ps
  && Nat.eqb (length weights) (length ps) && forallb (Z.ltb 0) weights
  && forallb (fun k => forallb (Z.eqb 0) (combination weights (map (block lift k) ps)))
             (seq 0 classes).

Lemma sum_map_plus {A} (f g : A -> Q) l :
  sum (map (fun k => f k + g k) l) == sum (map f l) + sum (map g l).
Proof. induction l as [|k l IH]; simpl; [ring | rewrite IH; ring]. Qed.

Lemma sum_map_ext {A} (f g : A -> Q) l :
  (forall k, In k l -> f k == g k) -> sum (map f l) == sum (map g l).
Proof.
  induction l as [|k l IH]; intro E; simpl; [reflexivity |].
  rewrite IH, (E k); [reflexivity | now left | intros; apply E; now right].
Qed.

Lemma sum_of_one (f : nat -> Q) i l :
  NoDup l -> sum (map (fun k => if (i =? k)%nat then f k else 0) l)
             == if in_dec Nat.eq_dec i l then f i else 0.
Proof.
  induction l as [|k l IH]; intro D; simpl; [reflexivity |]. inversion_clear D as [|? ? N D'].
  rewrite (IH D'). destruct (Nat.eqb_spec i k) as [->|E].
  - destruct (Nat.eq_dec k k); [|easy]. destruct (in_dec Nat.eq_dec k l); [easy | ring].
  - destruct (Nat.eq_dec k i); [congruence |]. destruct (in_dec Nat.eq_dec i l); ring.
Qed.

Definition common lift (p : member * nat) : positive :=
  denominator (lifted lift 1 (features (fst p))).

Lemma lifted_integers lift c x w :
  dot (whole (numbers (lifted lift c x))) w
  == inject_Z c * dot (lift :: rational x) w * inject_Z (Zpos (denominator (lifted lift 1 x))).
Proof.
  rewrite <- lifted_dot.
  change (denominator (lifted lift 1 x)) with (denominator (lifted lift c x)).
  destruct (lifted lift c x) as [z q]. rewrite dot_over. simpl.
  pose proof (product_of_units q) as U. set (D := dot (whole z) w) in *.
  setoid_replace (D * (1 # q) * inject_Z (Zpos q)) with (D * (inject_Z (Zpos q) * (1 # q))) by ring.
  rewrite U. ring.
Qed.

Lemma blocks_lead classes lift W p :
  (class (fst p) < classes)%nat -> (snd p < classes)%nat -> class (fst p) <> snd p ->
  sum (map (fun k => dot (whole (block lift k p)) (nth k W [])) (seq 0 classes))
  == lead lift W (fst p) (snd p) * inject_Z (Zpos (common lift p)).
Proof.
  destruct p as [m c]; simpl. intros M C N. unfold common, lead; simpl fst; simpl snd.
  set (q := inject_Z _). set (s := fun k => dot (lift :: rational (features m)) (nth k W [])).
  rewrite (sum_map_ext _ (fun k => (if (class m =? k)%nat then s k * q else 0)
                                   + (if (c =? k)%nat then - s k * q else 0))).
  - rewrite sum_map_plus, (sum_of_one (fun k => s k * q)), (sum_of_one (fun k => - s k * q))
      by apply seq_NoDup.
    destruct (in_dec Nat.eq_dec (class m) _) as [|A]; [|rewrite in_seq in A; lia].
    destruct (in_dec Nat.eq_dec c _) as [|A]; [|rewrite in_seq in A; lia].
    unfold s. ring.
  - intros k _. unfold block; simpl fst; simpl snd.
    destruct (Nat.eqb_spec (class m) k) as [E|_].
    + destruct (Nat.eqb_spec c k); [congruence |]. rewrite lifted_integers. unfold s, q. ring.
    + destruct (c =? k)%nat; [rewrite lifted_integers; unfold s, q; ring | simpl; ring].
Qed.

Lemma total_plus {A} weights (f g : A -> Q) (ps : list A) :
  total weights (map (fun p => f p + g p) ps)
  == total weights (map f ps) + total weights (map g ps).
Proof.
  revert ps; induction weights as [|y weights IH]; intros [|p ps]; simpl; try ring.
  rewrite IH. ring.
Qed.

Lemma total_of_sums {A} weights (f : A -> nat -> Q) (ps : list A) l :
  Forall (fun k => total weights (map (fun p => f p k) ps) == 0) l ->
  total weights (map (fun p => sum (map (f p) l)) ps) == 0.
Proof.
  induction 1 as [|k l Z _ IH]; simpl.
  - clear. revert ps; induction weights as [|y weights IH]; intros [|p ps]; simpl; try ring.
    rewrite IH. ring.
  - rewrite total_plus, Z, IH. ring.
Qed.

Lemma leads_are_zero classes lift weights ps W :
  check_leads classes lift weights ps = true ->
  Forall (fun p => 0 <= lead lift W (fst p) (snd p)) ps ->
  Forall (fun p => lead lift W (fst p) (snd p) == 0) ps.
Proof.
  unfold check_leads. intros C N. repeat rewrite andb_true_iff in C.
  destruct C as [[[C L] P] Z]. apply Nat.eqb_eq in L.
  apply (forallb_Forall _ (fun y => 0 < y)%Z) in P; [|intro; apply Z.ltb_lt].
  set (v := fun p => sum (map (fun k => dot (whole (block lift k p)) (nth k W []))
                              (seq 0 classes))).
  assert (V : Forall (fun p => v p == lead lift W (fst p) (snd p)
                                      * inject_Z (Zpos (common lift p))) ps).
  { revert C. apply forallb_Forall. intros p C. repeat rewrite andb_true_iff in C.
    destruct C as [[M O] E]. apply Nat.ltb_lt in M, O. apply negb_true_iff, Nat.eqb_neq in E.
    now apply blocks_lead. }
  assert (T : total weights (map v ps) == 0).
  { apply total_of_sums. revert Z. apply forallb_Forall. intros k Z.
    rewrite <- (whole_zero _ (nth k W []) Z), combination_total, map_map. reflexivity. }
  destruct (total_of_nonnegative weights (map v ps)) as [_ E]; [now rewrite map_length | exact P | |].
  - rewrite Forall_map. rewrite Forall_forall in *. intros p I. rewrite (V p I).
    apply Qmult_le_0_compat; [now apply N | easy].
  - specialize (E T). rewrite Forall_map in E. rewrite Forall_forall in *. intros p I.
    specialize (E p I). rewrite (V p I) in E.
    apply Qmult_integral in E as [E|E]; [exact E | discriminate E].
Qed.

Theorem nothing_tells_apart_weakly classes lift weights data :
  check_leads classes lift weights (pairs classes data) = true ->
  forall W, ~ tells_apart_weakly classes lift W data.
Proof.
  intros C W [N E]. apply Forall_pairs in N. apply Exists_pairs in E.
  pose proof (leads_are_zero _ _ _ _ _ C N) as Z.
  rewrite Forall_forall in Z. apply Exists_exists in E as [p [I P]]. specialize (Z p I). lra.
Qed.

(** Pairs are chosen by their places among all of them. *)
Definition check_leads_of places classes lift weights data : bool :=
  let ps := pairs classes data in
  let none := (Of 0 (Over [] 1), O) in
  forallb (fun i => i <? length ps)%nat places && negb (Nat.eqb (length places) 0)
  && check_leads classes lift weights (map (fun i => nth i ps none) places).

Theorem nothing_tells_apart places classes lift weights data :
  check_leads_of places classes lift weights data = true ->
  forall W, ~ tells_apart classes lift W data.
Proof.
  unfold check_leads_of. set (ps := pairs classes data). set (none := (Of 0 (Over [] 1), O)).
  intros C W S. repeat rewrite andb_true_iff in C. destruct C as [[I E] C].
  apply (Forall_pairs (fun m c => 0 < lead lift W m c)) in S. fold ps in S.
  assert (P : Forall (fun p => 0 < lead lift W (fst p) (snd p))
                     (map (fun i => nth i ps none) places)).
  { rewrite Forall_map. revert I. apply forallb_Forall. intros i L. apply Nat.ltb_lt in L.
    rewrite Forall_forall in S. now apply S, nth_In. }
  destruct places as [|i places]; [discriminate |].
  assert (Z : Forall (fun p => lead lift W (fst p) (snd p) == 0)
                     (map (fun i => nth i ps none) (i :: places))).
  { apply (leads_are_zero _ _ _ _ _ C). revert P. apply Forall_impl. intros; lra. }
  inversion_clear P. inversion_clear Z. lra.
Qed.

(** * Weights that tell classes apart *)

(** Integers over one denominator for all classes. *)
Definition all_over (q : positive) : list (list Z) -> list vector := map (fun x => Over x q).

Definition leadZ lift (W : list (list Z)) (p : member * nat) : Z :=
  let x := numbers (lifted lift 1 (features (fst p))) in
  (dotZ x (nth (class (fst p)) W []) - dotZ x (nth (snd p) W []))%Z.

Lemma lead_integers lift W q p :
  lead lift (map rational (all_over q W)) (fst p) (snd p)
  == inject_Z (leadZ lift W p) * (1 # common lift p) * (1 # q).
Proof.
  destruct p as [m c]. unfold lead, leadZ, common, all_over; simpl fst; simpl snd.
  assert (E : forall k, dot (lift :: rational (features m))
                            (nth k (map rational (map (fun x => Over x q) W)) [])
              == inject_Z (dotZ (numbers (lifted lift 1 (features m))) (nth k W []))
                 * (1 # denominator (lifted lift 1 (features m))) * (1 # q)).
  { intro k. rewrite map_map. change (@nil Q) with ((fun x => rational (Over x q)) []).
    rewrite map_nth, <- (Qmult_1_l (dot _ _)). change 1 with (inject_Z 1).
    rewrite <- lifted_dot. apply (dot_integers _ (Over _ q)). }
  rewrite !E. unfold Zminus. rewrite inject_Z_plus, inject_Z_opp. ring.
Qed.

Lemma lead_sign lift W q p :
  (0 <= leadZ lift W p)%Z -> 0 <= lead lift (map rational (all_over q W)) (fst p) (snd p).
Proof.
  intro P. rewrite lead_integers. apply inject_nonnegative in P.
  apply Qmult_le_0_compat; [apply Qmult_le_0_compat |]; easy.
Qed.

Lemma lead_positive lift W q p :
  (0 < leadZ lift W p)%Z -> 0 < lead lift (map rational (all_over q W)) (fst p) (snd p).
Proof.
  intro P. rewrite lead_integers. apply inject_positive in P.
  apply Qmult_lt_0_compat; [apply Qmult_lt_0_compat |]; easy.
Qed.

Definition check_apart_weakly classes lift (W : list (list Z)) data : bool :=
  forallb (fun p => 0 <=? leadZ lift W p)%Z (pairs classes data)
  && existsb (fun p => 0 <? leadZ lift W p)%Z (pairs classes data).

Theorem apart_weakly classes lift W q data :
  check_apart_weakly classes lift W data = true ->
  tells_apart_weakly classes lift (map rational (all_over q W)) data.
Proof.
  intro C. apply andb_true_iff in C as [N E]. split.
  - apply Forall_pairs. revert N. apply forallb_Forall. intros p P.
    now apply lead_sign, Z.leb_le.
  - apply Exists_pairs. apply existsb_exists in E as [p [I P]]. apply Exists_exists.
    exists p. split; [exact I |]. now apply lead_positive, Z.ltb_lt.
Qed.

Definition lengthZ (W : list (list Z)) : Z := fold_right (fun x t => squareZ false x + t)%Z 0%Z W.

Lemma length_integers W q :
  sum (map (square false) (map rational (all_over q W)))
  == inject_Z (lengthZ W) * (1 # q) * (1 # q).
Proof.
  induction W as [|x W IH]; [reflexivity |].
  change (square false (rational (Over x q)) + sum (map (square false) (map rational (all_over q W)))
          == inject_Z (squareZ false x + lengthZ W) * (1 # q) * (1 # q)).
  rewrite IH, square_integers, inject_Z_plus. simpl. ring.
Qed.

Definition check_apart (g : Q) classes lift (W : list (list Z)) data : bool :=
  let length := lengthZ W in
  let most := (Qnum g * Qnum g * length)%Z in
  (0 <? Qnum g)%Z && (0 <? length)%Z
  && forallb (fun p => let a := leadZ lift W p in
                       let q := Zpos (common lift p) in
                       (0 <? a) && (most * (q * q) <=? a * QDen g * (a * QDen g)))%Z
             (pairs classes data).

Theorem apart g classes lift W q data :
  check_apart g classes lift W data = true ->
  tells_apart classes lift (map rational (all_over q W)) data
  /\ has_joint_margin g classes lift (map rational (all_over q W)) data.
Proof.
  intro C. unfold check_apart in C. repeat rewrite andb_true_iff in C. destruct C as [[G L] C].
  apply Z.ltb_lt in G, L.
  assert (F : Forall (fun p => let a := lead lift (map rational (all_over q W)) (fst p) (snd p) in
                 0 < a /\ g * g * sum (map (square false) (map rational (all_over q W))) <= a * a)
              (pairs classes data)).
  { revert C. apply forallb_Forall. intros p C. apply andb_true_iff in C as [P M].
    apply Z.ltb_lt in P. apply Z.leb_le in M. split; [now apply lead_positive |].
    rewrite length_integers, lead_integers. destruct g as [a b]. now apply squares_compare. }
  split; [|split; [|split]].
  - apply Forall_pairs. revert F. apply Forall_impl. now intros p [P _].
  - destruct g as [a b]. unfold Qlt; simpl in *. lia.
  - rewrite length_integers. apply inject_positive in L.
    apply Qmult_lt_0_compat; [apply Qmult_lt_0_compat |]; easy.
  - apply Forall_pairs. exact F.
Qed.
