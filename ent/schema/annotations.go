//go:build !entgql

package schema

import "entgo.io/ent/schema"

// unannotated replaces entgql's annotations in programs: only the generator reads them (annotations_entgql.go), and importing
// entgql would link the generators of ent and gqlgen.
type unannotated struct{}

func (unannotated) Name() string { return "unannotated" }

var secret, reviewed, wide unannotated

func ordering(string) schema.Annotation { return unannotated{} }

func connection() []schema.Annotation { return nil }
