// What the page does beyond plain HTML: the palette, live updates, filters while typing, keys for reviews.
import { follow } from "./live.js";
import { palette } from "./palette.js";
import { filters } from "./filter.js";
import { review } from "./review.js";
import { forms } from "./forms.js";

palette();
filters();
forms();
review();
follow();
