package profiles

import (
	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
)

// SearchStatement is the statement of the first page of a search, with its arguments, for tests that look at what it reads.
func SearchStatement(caller uuid.UUID, q, specialty string) (*db.Statement, []any) {
	f, err := SearchInput{Q: page.Param{q}, Specialty: page.Param{specialty}}.Check()
	if err != nil {
		panic(err)
	}
	return f.statement(caller)
}
