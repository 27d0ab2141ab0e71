import sys

from fairwater.cli import main

sys.exit(main())
