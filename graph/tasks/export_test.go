package tasks

// SearchStatement is the SQL of the first page of a search of the open tasks, and what follows the caller among its parameters, for tests
// that look at what it reads.
func SearchStatement(q string) (query string, args []any, err error) {
	f, err := TaskBoardInput{Q: []string{q}}.Check()
	if err != nil {
		return "", nil, err
	}
	query, args = f.statement()
	return query, args, nil
}
