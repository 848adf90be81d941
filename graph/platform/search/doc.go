// Package search is how texts are searched for a substring: case does not matter, and no character has a meaning of its own
// (contract §3).
//
// A table that can be searched has a column folded, its searched text in lower case, and an index of the q-grams of that column
// (migrate/sql/0021_search.sql). A search has two ways to its rows. It walks the list in its order and looks at each text, until the
// page is full or a bound on the rows examined is reached; or it takes what the index finds, sorts it, and looks at those texts in the
// order of the list until the page is full. A text that is not among the first rows of the list goes to the index at once, and one that
// does not fill the page within the bound goes there, too. Both ways give the same page.
//
// The planner knows nothing about long texts, so the statement decides between the two ways while it runs. It reads no value at
// planning, and its plan can be kept.
package search
