package page_test

import (
	"math"
	"net/url"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
)

// refused holds spellings that no integer parameter accepts.
var refused = []string{
	"", "0", "-1", "+1", "01", "1.0", "1e1", " 1", "1 ", "1\n", "0x1", "1_0", "a", "１", "1\x00", "9223372036854775808",
	"99999999999999999999999", "-0", "00",
}

func TestParse(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]struct{ page, size, offset int }{
		"":                         {1, 20, 0},
		"page=1&page_size=1":       {1, 1, 0},
		"page=3":                   {3, 20, 40},
		"page=1000&page_size=50":   {1000, 50, 49950},
		"page_size=10&q=x&q=y&z=1": {1, 10, 0},
	} {
		q, err := url.ParseQuery(query)
		require.NoError(t, err)
		n, err := page.Parse(q["page"], q["page_size"], 1000)
		require.NoError(t, err, query)
		require.Equal(t, want.offset, n.Offset())
		require.Equal(t, want.size+1, n.Limit())
		_, meta := page.Cut[int](n, nil)
		require.Equal(t, page.Meta{Page: want.page, PageSize: want.size}, meta)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range append(refused, "1001") {
		refuses(t, fault.InvalidPagination, "page", "must be a decimal integer from 1 to 1000")(page.Parse([]string{s}, nil, 1000))
	}
	for _, s := range append(refused, "51") {
		refuses(t, fault.InvalidPagination, "page_size", "must be a decimal integer from 1 to 50")(page.Parse(nil, []string{s}, 1000))
	}
	refuses(t, fault.InvalidPagination, "page", "must be sent once")(page.Parse([]string{"1", "1"}, nil, 1000))
	refuses(t, fault.InvalidPagination, "page_size", "must be sent once")(page.Parse(nil, []string{"", ""}, 1000))
}

func TestCursor(t *testing.T) {
	t.Parallel()
	h, err := page.Cursor(nil, nil)
	require.NoError(t, err)
	require.Equal(t, page.History{Before: math.MaxInt64, Limit: 50}, h)
	h, err = page.Cursor([]string{"9223372036854775807"}, []string{"100"})
	require.NoError(t, err)
	require.Equal(t, page.History{Before: math.MaxInt64, Limit: 100}, h)
	h, err = page.Cursor([]string{"1"}, []string{"1"})
	require.NoError(t, err)
	require.Equal(t, page.History{Before: 1, Limit: 1}, h)

	for _, s := range refused {
		refuses(t, fault.InvalidInput, "before", "must be a decimal integer from 1 to 9223372036854775807")(page.Cursor([]string{s}, nil))
	}
	for _, s := range append(refused, "101") {
		refuses(t, fault.InvalidInput, "limit", "must be a decimal integer from 1 to 100")(page.Cursor(nil, []string{s}))
	}
	refuses(t, fault.InvalidInput, "before", "must be sent once")(page.Cursor([]string{"1", "2"}, nil))
	refuses(t, fault.InvalidInput, "limit", "must be sent once")(page.Cursor(nil, []string{"1", "1"}))
}

// refuses returns a check of a call's results: the call must refuse a parameter.
func refuses(t *testing.T, code fault.Code, field, reason string) func(any, error) {
	t.Helper()
	return func(_ any, err error) {
		t.Helper()
		require.Equal(t, fault.Field(code, field, reason), err)
	}
}

// Following next_page from the first page shows every row once, in order, up to the highest page.
func TestPagesCoverTheList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Int(), 0, 200).Draw(t, "list")
		size := rapid.IntRange(1, page.MaxSize).Draw(t, "size")
		last := rapid.IntRange(1, 12).Draw(t, "last")
		var seen []int
		for p := 1; ; p++ {
			n, err := page.Parse([]string{strconv.Itoa(p)}, []string{strconv.Itoa(size)}, last)
			require.NoError(t, err)
			rows, meta := page.Cut(n, stretch(list, n.Offset(), n.Limit()))
			seen = append(seen, rows...)
			require.Equal(t, p, meta.Page)
			require.Equal(t, size, meta.PageSize)
			if meta.NextPage == nil {
				break
			}
			require.Equal(t, p+1, *meta.NextPage)
			require.Len(t, rows, size)
		}
		require.Equal(t, stretch(list, 0, size*last), append([]int{}, seen...))
	})
}

// Following next_before from the newest row shows every row once, in order.
func TestCursorsCoverTheList(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := make([]uuid.UUID, rapid.IntRange(0, 350).Draw(t, "length"))
		for i := range list {
			list[i] = uuid.New()
		}
		size := rapid.SampledFrom([]int{1, 7, page.CursorSize}).Draw(t, "size")
		seen, from := []uuid.UUID{}, 0
		for {
			rows, next := page.Older(stretch(list, from, size+1), size, func(id uuid.UUID) uuid.UUID { return id })
			seen = append(seen, rows...)
			if next == nil {
				break
			}
			require.Len(t, rows, size)
			require.Equal(t, rows[size-1], *next)
			from += size
		}
		require.Equal(t, list, seen)
	})
}

// stretch is LIMIT and OFFSET over a slice.
func stretch[T any](list []T, offset, limit int) []T {
	return list[min(offset, len(list)):min(offset+limit, len(list))]
}

func TestFlag(t *testing.T) {
	t.Parallel()
	for _, absent := range []bool{true, false} {
		for _, sent := range []struct {
			values []string
			want   bool
		}{{nil, absent}, {[]string{"true"}, true}, {[]string{"false"}, false}} {
			read, err := page.Flag(fault.InvalidInput, "own", sent.values, absent)
			require.NoError(t, err)
			require.Equal(t, sent.want, read)
		}
	}
	for _, values := range [][]string{{""}, {"1"}, {"True"}, {" true"}, {"true", "true"}, {"false", "true"}} {
		refuses(t, fault.InvalidInput, "own", "must be true or false, sent once, or left out")(page.Flag(fault.InvalidInput, "own", values, true))
	}
}

func TestID(t *testing.T) {
	t.Parallel()
	id := uuid.MustParse("0190a5d4-7c1e-7000-8000-0123456789ab")
	for _, values := range [][]string{{id.String()}, {"0190A5D4-7C1E-7000-8000-0123456789AB"}} {
		read, err := page.ID("before", values)
		require.NoError(t, err)
		require.Equal(t, &id, read)
	}
	read, err := page.ID("before", nil)
	require.NoError(t, err)
	require.Nil(t, read)
	for _, s := range []string{"", "x", "{" + id.String() + "}", "urn:uuid:" + id.String(), "0190a5d47c1e700080000123456789ab"} {
		refuses(t, fault.InvalidID, "peer", "must be a UUID of 8-4-4-4-12 hexadecimal digits")(page.ID("peer", []string{s}))
	}
	refuses(t, fault.InvalidID, "before", "must be sent once")(page.ID("before", []string{id.String(), id.String()}))
}
