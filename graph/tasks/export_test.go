package tasks

import (
	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// SearchStatement is the statement of the first page of a search of the open tasks, with its arguments, for tests that look at
// what it reads.
func SearchStatement(caller uuid.UUID, q string) (*db.Statement, []any, error) {
	f, err := TaskBoardInput{Q: []string{q}}.Check()
	if err != nil {
		return nil, nil, err
	}
	statement, args := f.statement(caller)
	return statement, args, nil
}
