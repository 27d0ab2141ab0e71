"""Reports as documents: findings as SARIF and JUnit, the matrix as CSV, HTML and Markdown."""
