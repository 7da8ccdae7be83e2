/** What can go wrong in a kitchen. */
module recipe/kitchen

open recipe/vocabulary
open values

/** RECIPE001 dish-too-slow error: a dish takes longer than the guests wait
 * message: `{d}` takes {d.minutes} minutes, but the guests wait for {k.patience}
 * at: d.minutes "too long"
 * help: begin earlier, or raise `patience`
 * why: Hungry guests leave.
 * source: the cook
 */
assert GuestsAreServed { no d: Dish, k: Kitchen | less[k.patience, d.minutes] }

/** RECIPE002 dish-needs-itself error: dishes wait for each other
 * message: `{d}` cannot be begun before it is done
 * at: d "waits for itself"
 * help: break the circle
 * why: Nobody can begin.
 * source: the cook
 */
assert DishesCanBeBegun { no d: Dish | d in d.^needs }
