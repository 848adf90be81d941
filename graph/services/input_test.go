package services

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
)

func field(s string) *string { return &s }

func TestFields(t *testing.T) {
	t.Parallel()
	title, description := strings.Repeat("ж", 160), strings.Repeat("ж", 8000)
	for name, c := range map[string]struct {
		in      Fields
		refused []string
	}{
		"longest":             {said(field(title), field(description)), nil},
		"shortest":            {said(field("t"), field("d")), nil},
		"trimmed to fit":      {said(field("  "+title+"\t"), field("d")), nil},
		"blank description":   {said(field("t"), field(" ")), nil},
		"lines":               {said(field("t"), field("a\r\n\tb")), nil},
		"too long":            {said(field(title+"ж"), field(description+"ж")), []string{"title", "description"}},
		"empty":               {said(field(""), field("")), []string{"title", "description"}},
		"blank title":         {said(field(" \t"), field("d")), []string{"title"}},
		"invisible title":     {said(field("\u200b"), field("d")), []string{"title"}},
		"bidi title":          {said(field("a\u202eb"), field("d")), []string{"title"}},
		"title of lines":      {said(field("a\nb"), field("d")), []string{"title"}},
		"control character":   {said(field("t"), field("a\x00")), []string{"description"}},
		"not UTF-8":           {said(field("\xff"), field("\xff")), []string{"title", "description"}},
		"nothing":             {Fields{}, []string{"title", "description"}},
		"without title":       {said(nil, field("d")), []string{"title"}},
		"without description": {said(field("t"), nil), []string{"description"}},
	} {
		_, err := CreateServiceInput{c.in}.Check()
		requireBlamed(t, name, err, c.refused)
		if c.in.Title != nil && c.in.Description != nil {
			_, err = UpdateServiceInput{uuid.NewString(), c.in}.Check()
			requireBlamed(t, name, err, c.refused)
		}
	}
	kept, err := CreateServiceInput{said(field(" t "), field(" d "))}.Check()
	require.NoError(t, err)
	require.Equal(t, said(field("t"), field(" d ")), kept)
}

// said returns fields without a price.
func said(title, description *string) Fields { return Fields{Title: title, Description: description} }

func requireBlamed(t *testing.T, name string, err error, fields []string) {
	t.Helper()
	if fields == nil {
		require.NoError(t, err, name)
		return
	}
	require.Equal(t, fault.InvalidInput, fault.From(err).Code, name)
	require.Len(t, fault.From(err).Fields, len(fields), name)
	for _, f := range fields {
		require.Contains(t, fault.From(err).Fields, f, name)
	}
}

func TestUpdateOfNothing(t *testing.T) {
	t.Parallel()
	_, err := UpdateServiceInput{ServiceID: uuid.NewString()}.Check()
	require.Equal(t, fault.InvalidInput, fault.From(err).Code)
	_, err = UpdateServiceInput{ServiceID: "x"}.Check()
	require.Equal(t, fault.InvalidID, fault.From(err).Code)
	require.Contains(t, fault.From(err).Fields, "service_id")
}

func TestCatalogueInput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   CatalogueInput
		code fault.Code
	}{
		"nothing":      {CatalogueInput{}, ""},
		"empty q":      {CatalogueInput{Q: page.Param{""}}, ""},
		"longest q":    {CatalogueInput{Q: page.Param{strings.Repeat("ж", 160)}}, ""},
		"too long":     {CatalogueInput{Q: page.Param{strings.Repeat("ж", 161)}}, fault.InvalidSearch},
		"twice":        {CatalogueInput{Q: page.Param{"a", "a"}}, fault.InvalidSearch},
		"separator":    {CatalogueInput{Q: page.Param{"a\x1fb"}}, fault.InvalidSearch},
		"last page":    {CatalogueInput{Page: page.Param{"1000"}, PageSize: page.Param{"50"}}, ""},
		"beyond":       {CatalogueInput{Page: page.Param{"1001"}}, fault.InvalidPagination},
		"large page":   {CatalogueInput{PageSize: page.Param{"51"}}, fault.InvalidPagination},
		"paging first": {CatalogueInput{Page: page.Param{""}, Q: page.Param{"a", "a"}}, fault.InvalidPagination},
	} {
		_, err := c.in.Check()
		require.Equal(t, c.code, fault.CodeOf(err), name)
	}
}
