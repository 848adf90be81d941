package profiles

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
)

func TestSearchInput(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ж", 160)
	for name, c := range map[string]struct {
		in   SearchInput
		code fault.Code
	}{
		"nothing":            {SearchInput{}, ""},
		"empty":              {SearchInput{Q: page.Param{""}, Specialty: page.Param{""}}, ""},
		"longest":            {SearchInput{Q: page.Param{long}, Specialty: page.Param{long}}, ""},
		"lines":              {SearchInput{Q: page.Param{"a\n\tb"}}, ""},
		"too long":           {SearchInput{Q: page.Param{long + "ж"}}, fault.InvalidSearch},
		"too long specialty": {SearchInput{Specialty: page.Param{long + "ж"}}, fault.InvalidSearch},
		"twice":              {SearchInput{Q: page.Param{"a", "a"}}, fault.InvalidSearch},
		"twice empty":        {SearchInput{Q: page.Param{"", ""}}, fault.InvalidSearch},
		"specialty twice":    {SearchInput{Specialty: page.Param{"a", "b"}}, fault.InvalidSearch},
		"NUL":                {SearchInput{Q: page.Param{"a\x00"}}, fault.InvalidSearch},
		"separator":          {SearchInput{Q: page.Param{"a\x1fb"}}, fault.InvalidSearch},
		"not UTF-8":          {SearchInput{Q: page.Param{"\xff"}}, fault.InvalidSearch},
		"last page":          {SearchInput{Page: page.Param{"1000"}, PageSize: page.Param{"50"}}, ""},
		"beyond":             {SearchInput{Page: page.Param{"1001"}}, fault.InvalidPagination},
		"leading zero":       {SearchInput{Page: page.Param{"01"}}, fault.InvalidPagination},
		"page before search": {SearchInput{Page: page.Param{"x"}, Q: page.Param{"a", "a"}}, fault.InvalidPagination},
	} {
		_, err := c.in.Check()
		require.Equal(t, c.code, fault.CodeOf(err), name)
	}
}

// Search reads the rows of the first page of a search, for tests that check the rows read.
func Search(ctx context.Context, on db.Querier, caller uuid.UUID, q, specialty string) error {
	f, err := SearchInput{Q: page.Param{q}, Specialty: page.Param{specialty}}.Check()
	if err == nil {
		_, err = f.find(ctx, on, caller)
	}
	return err
}
