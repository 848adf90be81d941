// Package search is how texts are searched for a substring: case does not matter, and no character has a meaning of its own
// (contract §3).
//
// A text that can be searched has two indexes (migrate/sql/0011_posts.sql), of trigrams and of stoa_grams, both over one
// expression. Statements that search are planned per value (prepared.PlanPerValue), since what is rare and what is common want
// different plans. Every function is pure and safe for concurrent use.
package search
