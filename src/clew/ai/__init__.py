"""The optional language model: none, a program, a service that speaks OpenAI's interface, or the client's own.

| module | subject |
|---|---|
| `model` | what a model is to the rest of Clew |
| `opening` | which one is meant, and how to configure one where there is none |
| `command` | a program that reads the question from standard input and prints the answer |
| `endpoint` | a service at an address |
| `http` | the HTTP client for models, which embeddings use as well |

A program or an address is taken from the user's environment, never from a file of the project: a user who clones a
project has not chosen what its files say, so they must not start a program or send text and a key to an
address.

It may import `config`, `trust`, `text` and `errors`. It must not know what is asked: prompts are made by
services.
"""

# Implements: REQ-d00052
