//go:build !entgql

package schema

import "entgo.io/ent/schema"

// unannotated takes the place of entgql's annotations in programs: only the generator reads them (annotations_entgql.go), and entgql
// would bring ent's and gqlgen's generators along.
type unannotated struct{}

func (unannotated) Name() string { return "unannotated" }

var secret, reviewed, wide unannotated

func ordering(string) schema.Annotation { return unannotated{} }

func connection() []schema.Annotation { return nil }
