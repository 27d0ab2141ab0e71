"""Expressions of facts: what a name means, in a closed language of a few operations that belong to no programming
language.

An expression is a tuple of numbers: the operation, then its operands. `e` is the place of another expression in the
file, `n` the place of a name in `Facts.names`, `s` the number of a symbol, `i` of an import, `v` of a variable. Equal
expressions of a file are one, so that an answer is found once.

| operation | operands | means |
|---|---|---|
| UNKNOWN | | nothing is known of it |
| DEFINITION | s | what a symbol of this file defines |
| IMPORT | i | what an import of this file brings |
| GLOBAL | n | a name that the file does not define: from an import of all, from the package, built in |
| VARIABLE | v | a value that a variable inside of a function was given |
| PARAMETER | s k | the argument of a function at a position |
| MEMBER | e n | a member of a value, class or module |
| CALL | e e* | what a call gives; the arguments by position follow |
| INSTANCE | e | a value of the type that the expression writes |
| ELEMENT | e | what iterating gives |
| SUBSCRIPT | e e* | what an index gives, or a generic type with its arguments |
| UNPACKED | e k | the value at a position of what is unpacked; -1 for one that gathers several |
| ENTERED | e | what entering a context gives |
| AWAITED | e | what awaiting gives |
| UNION | e* | one of several |
| SELF | s | the instance of a class, in its own methods |
| SELF_CLASS | s | the class of that instance |
| SUPER | s k | the classes above; k is 1 where the receiver is a class |
| LITERAL | n | a value of a type that is built in |
| COLLECTION | n e* | a container of a type that is built in, and what it holds: elements, keys and values, positions |
| NUMBER | k | the literal number, in subscripts and positions |
| FUNCTION | e e* | a function without a name: what it returns, then the declared types of its parameters |
| NARROWED | e e k | the first where it is of the type that the second is or holds; k as in `TOLD` and `EXCLUDED` |
| DOTTED | n | what a literal names with dots from the root of the project |
| FIXTURE | n s | what a test framework gives for the name of a parameter of a function s; -1 where a text names it |
| OPERATION | e n e | what an operator gives: the left side, the method that stands for it, the right side |
| TYPE_PARAMETER | n | a type that a call decides |
| NOTHING | | the value that has no members |
| ITERATED | e | an asynchronous element |
| BOUND | e e | the second, called through a receiver, the first |
| RECORD | n e ... | a value with named members of its own, and what each of them is |
| ARGUMENT | e k e* | what a function takes at a position; the arguments of the call by position follow |
| TYPEOF | e | where a type is written: that of a value |
"""

from enum import IntEnum

Expression = tuple[int, ...]


class Op(IntEnum):
    UNKNOWN = 0
    DEFINITION = 1
    IMPORT = 2
    GLOBAL = 3
    VARIABLE = 4
    PARAMETER = 5
    MEMBER = 6
    CALL = 7
    INSTANCE = 8
    ELEMENT = 9
    SUBSCRIPT = 10
    UNPACKED = 11
    ENTERED = 12
    AWAITED = 13
    UNION = 14
    SELF = 15
    SELF_CLASS = 16
    SUPER = 17
    LITERAL = 18
    COLLECTION = 19
    NUMBER = 20
    FUNCTION = 21
    NARROWED = 22
    DOTTED = 23
    FIXTURE = 24
    OPERATION = 25
    TYPE_PARAMETER = 26
    NOTHING = 27
    ITERATED = 28
    BOUND = 29
    RECORD = 30
    ARGUMENT = 31
    TYPEOF = 32


TOLD = 1
"""Only a function that tells types apart may say it."""
EXCLUDED = 2
"""Where it is not of the type."""
UNKNOWN = 0
"""The place of the expression of which nothing is known."""
MOST_OPERANDS = 12
"""Operands of a union or collection that are kept; the others are left out."""
MOST_FIELDS = 60
"""Members of a record that are kept."""
