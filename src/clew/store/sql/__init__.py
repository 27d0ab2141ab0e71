"""Common part of the SQL engines: every statement of the contract, in the SQL that all of them understand."""
