(** Checkers of certificates, and theorems that what they accept is true.

    [Claims] says what is claimed. Each of the other files has functions, which compute with
    integers alone, and the theorem that whatever they accept is true. A file that
    [rosenblatt export proof.json proof.v] writes holds data, and calls one of these theorems. *)

From Rosenblatt Require Export Claims Vectors Separation Margins Classes Systems Mistakes.

(** Long numbers as digits, for [Z.of_num_int]. *)
Delimit Scope hex_int_scope with digits.

(** Proves by computation that a checker accepts; done once, at [Qed]. *)
Ltac computed := vm_cast_no_check (eq_refl true).
