// Package ent is the data layer, generated from schema/; see README.md.
package ent

//go:generate go run -C .. ./ent/entc
