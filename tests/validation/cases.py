"""All validation cases; the order of the imports is that of the page. A new case: a function with @case in one of these modules."""

import closed_forms  # noqa: F401
import frequencies  # noqa: F401
import transmission_zeros  # noqa: F401
import motion  # noqa: F401
from rows import CASES  # noqa: F401
