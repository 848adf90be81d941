package posts

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/wire"
)

func TestCreatePostInput(t *testing.T) {
	t.Parallel()
	ids := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = `"` + uuid.NewString() + `"`
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	const id = `"0190a5d4-7c1e-7000-8000-0123456789ab"`
	for name, c := range map[string]struct {
		body string
		code fault.Code
	}{
		"least":                  {`{"text":"x"}`, ""},
		"all":                    {`{"text":"x","title":" t ","kind":"portfolio","visibility":"public","attachment_ids":[],"rights_confirmed":true}`, ""},
		"white space":            {`{"text":" "}`, ""},
		"lines":                  {`{"text":"a\n\tb\r\n"}`, ""},
		"longest text":           {`{"text":"` + strings.Repeat("ж", 8000) + `"}`, ""},
		"too long text":          {`{"text":"` + strings.Repeat("ж", 8001) + `"}`, fault.InvalidText},
		"no text":                {`{}`, fault.InvalidText},
		"empty text":             {`{"text":""}`, fault.InvalidText},
		"null text":              {`{"text":null}`, fault.InvalidText},
		"number text":            {`{"text":7}`, fault.InvalidText},
		"object text":            {`{"text":{"a":1}}`, fault.InvalidText},
		"NUL text":               {`{"text":"a\u0000"}`, fault.InvalidText},
		"longest title":          {`{"text":"x","title":"` + strings.Repeat("ж", 160) + `"}`, ""},
		"too long title":         {`{"text":"x","title":"` + strings.Repeat("ж", 161) + `"}`, fault.InvalidTitle},
		"trimmed title":          {`{"text":"x","title":"  ` + strings.Repeat("a", 160) + `  "}`, ""},
		"lines in title":         {`{"text":"x","title":"a\nb"}`, fault.InvalidTitle},
		"bidi title":             {`{"text":"x","title":"a\u202eb"}`, fault.InvalidTitle},
		"invisible title":        {`{"text":"x","title":"\u200b"}`, fault.InvalidTitle},
		"null title":             {`{"text":"x","title":null}`, fault.InvalidTitle},
		"list title":             {`{"text":"x","title":[]}`, fault.InvalidTitle},
		"unknown kind":           {`{"text":"x","kind":"Update"}`, fault.InvalidKind},
		"empty kind":             {`{"text":"x","kind":""}`, fault.InvalidKind},
		"null kind":              {`{"text":"x","kind":null}`, fault.InvalidKind},
		"flag kind":              {`{"text":"x","kind":true}`, fault.InvalidKind},
		"unknown visibility":     {`{"text":"x","visibility":"friends"}`, fault.InvalidVisibility},
		"null visibility":        {`{"text":"x","visibility":null}`, fault.InvalidVisibility},
		"number visibility":      {`{"text":"x","visibility":0}`, fault.InvalidVisibility},
		"ten files":              {`{"text":"x","attachment_ids":` + ids(10) + `}`, ""},
		"eleven files":           {`{"text":"x","attachment_ids":` + ids(11) + `}`, fault.InvalidField},
		"a file twice":           {`{"text":"x","attachment_ids":[` + id + `,` + strings.ToUpper(id) + `]}`, fault.InvalidField},
		"no id":                  {`{"text":"x","attachment_ids":["x"]}`, fault.InvalidField},
		"number among files":     {`{"text":"x","attachment_ids":[` + id + `,1]}`, fault.InvalidField},
		"null files":             {`{"text":"x","attachment_ids":null}`, fault.InvalidField},
		"string files":           {`{"text":"x","attachment_ids":"x"}`, fault.InvalidField},
		"string rights":          {`{"text":"x","rights_confirmed":"true"}`, fault.InvalidField},
		"null rights":            {`{"text":"x","rights_confirmed":null}`, fault.InvalidField},
		"unknown field":          {`{"text":"x","author_id":` + id + `}`, fault.UnknownFields},
		"other case":             {`{"Text":"x"}`, fault.UnknownFields},
		"a post's id":            {`{"text":"x","post_id":` + id + `}`, fault.UnknownFields},
		"array":                  {`[]`, fault.InvalidField},
		"nothing":                {``, fault.InvalidField},
		"broken":                 {`{"text":`, fault.InvalidField},
		"twice":                  {`{"text":"x","text":"x"}`, fault.InvalidField},
		"trailing":               {`{"text":"x"}{}`, fault.InvalidField},
		"lone surrogate":         {`{"text":"\ud800"}`, fault.InvalidField},
		"text before title":      {`{"title":"` + strings.Repeat("a", 161) + `","text":""}`, fault.InvalidText},
		"title before kind":      {`{"kind":"x","title":"a\nb","text":"x"}`, fault.InvalidTitle},
		"kind before visibility": {`{"visibility":"x","kind":"x","text":"x"}`, fault.InvalidKind},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.code, codeOfBody(t, c.body))
		})
	}
}

// codeOfBody decodes and checks a body as REST does.
func codeOfBody(t *testing.T, body string) fault.Code {
	t.Helper()
	var in CreatePostInput
	err := wire.Unmarshal([]byte(body), &in)
	if refused, ok := err.(*wire.Error); ok { //nolint:errorlint // it is never wrapped
		return in.BlameBody(refused).Code
	}
	require.NoError(t, err)
	_, err = in.Check()
	return fault.CodeOf(err)
}

func TestUpdatePostInput(t *testing.T) {
	t.Parallel()
	id := uuid.NewString()
	text, no := "x", false
	for name, c := range map[string]struct {
		in   UpdatePostInput
		code fault.Code
	}{
		"one field":      {UpdatePostInput{id, Fields{Text: &text}}, ""},
		"no files":       {UpdatePostInput{id, Fields{AttachmentIDs: []string{}}}, ""},
		"only the claim": {UpdatePostInput{id, Fields{RightsConfirmed: &no}}, ""},
		"nothing":        {UpdatePostInput{id, Fields{}}, fault.InvalidField},
		"no id":          {UpdatePostInput{"{" + id + "}", Fields{}}, fault.InvalidID},
	} {
		_, err := c.in.Check()
		require.Equal(t, c.code, fault.CodeOf(err), name)
	}
}

func TestFeedInput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		page, size, kind page.Param
		code             fault.Code
	}{
		{nil, nil, nil, ""},
		{page.Param{"100000"}, page.Param{"50"}, page.Param{"portfolio"}, ""},
		{page.Param{"100001"}, nil, nil, fault.InvalidPagination},
		{page.Param{"01"}, nil, nil, fault.InvalidPagination},
		{page.Param{"1", "1"}, nil, nil, fault.InvalidPagination},
		{nil, page.Param{"51"}, nil, fault.InvalidPagination},
		{nil, page.Param{""}, nil, fault.InvalidPagination},
		{nil, nil, page.Param{""}, fault.InvalidKind},
		{nil, nil, page.Param{"updates"}, fault.InvalidKind},
		{nil, nil, page.Param{"update", "update"}, fault.InvalidKind},
	} {
		_, err := FeedInput{c.page, c.size, c.kind}.Check()
		require.Equal(t, c.code, fault.CodeOf(err), "%v", c)
	}
}

// Every wrong body has one of the six codes.
func FuzzBlameBody(f *testing.F) {
	for _, body := range []string{`{"text":1}`, `{"x":1}`, `[]`, `{"attachment_ids":[1]}`, `{"text":{"kind":1}}`} {
		f.Add(body)
	}
	known := []fault.Code{
		fault.UnknownFields, fault.InvalidText, fault.InvalidTitle, fault.InvalidKind, fault.InvalidVisibility, fault.InvalidField, "",
	}
	f.Fuzz(func(t *testing.T, body string) {
		require.True(t, slices.Contains(known, codeOfBody(t, body)))
	})
}

// DeepPage reads any page of the feed with the statements for pages far down; both kinds if kind is empty.
func (a *API) DeepPage(ctx context.Context, caller uuid.UUID, skip, limit int, kind string) ([]uuid.UUID, error) {
	name, args := "feed_deep_page", []any{caller, skip, limit}
	if kind != "" {
		name, args = name+"_of_kind", append(args, kind)
	}
	rows, err := db.All[row](ctx, a.DB.SQL, named(name), args...)
	ids := make([]uuid.UUID, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	return ids, err
}

// WriteTextAgain runs the statement of a text again, as the pool does if a connection breaks after the commit.
func (a *API) WriteTextAgain(ctx context.Context, p *Card) error {
	_, err := (&row{Card: *p}).store(ctx, a.DB.SQL, p.Author.ID, false)
	return err
}
