package operator_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/ent"
	"stoa/ent/document"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/fault"
)

// terms is a version of a document.
func terms(version string) operator.DocumentInput {
	return operator.DocumentInput{Key: "terms", Title: "Terms", Version: version, URL: "https://example.org/terms", Text: "Be kind.\nVersion " + version}
}

func (o *office) published(in operator.DocumentInput) *ent.Document {
	o.t.Helper()
	made, err := o.Operator.PublishDocument(o.ctx, in, "why")
	require.NoError(o.t, err)
	return made
}

// inForce are the versions of a document that are in force.
func (o *office) inForce(key string) []string {
	o.t.Helper()
	versions, err := o.DB.Ent.Document.Query().Where(document.Key(key), document.WithdrawnAtIsNil()).Select(document.FieldVersion).Strings(o.ctx)
	require.NoError(o.t, err)
	return versions
}

func TestANewVersionWithdrawsTheOneInForce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	first := o.published(terms(" 1.0 "))
	sum := sha256.Sum256([]byte(terms(" 1.0 ").Text))
	require.Equal(t, hex.EncodeToString(sum[:]), first.Sha256)
	require.Equal(t, terms(" 1.0 ").Text, first.Text, "as sent")
	require.Equal(t, []string{"1.0"}, o.inForce("terms"), "trimmed")
	require.Equal(t, map[string]any{"key": "terms", "title": "Terms", "version": "1.0", "url": "https://example.org/terms", "sha256": first.Sha256},
		o.entries()[0].Details, "the hash stands for the text")
	require.Equal(t, first.ID.String(), o.entries()[0].Target)

	other := terms("1.0")
	other.Key, other.URL = "privacy", ""
	o.published(other)
	o.Shift(time.Hour)
	o.published(terms("2.0"))
	require.Equal(t, []string{"2.0"}, o.inForce("terms"))
	require.Equal(t, []string{"1.0"}, o.inForce("privacy"))
	old := graphtest.Got(o.DB.Ent.Document.Get(o.ctx, first.ID))(t)
	require.WithinDuration(t, first.CreatedAt.Add(time.Hour), *old.WithdrawnAt, time.Minute)

	before := o.state()
	for _, again := range []string{"1.0", "2.0"} {
		_, err := o.Operator.PublishDocument(o.ctx, terms(again), "why")
		require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields["version"], "published before")
	}
	require.Equal(t, before, o.state(), "the version in force stays")
}

func TestWithdrawnDocumentsStayOnRecord(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	made := o.published(terms("1"))
	gone := graphtest.Got(o.Operator.WithdrawDocument(o.ctx, made.ID, "why"))(t)
	require.NotNil(t, gone.WithdrawnAt)
	require.Empty(t, o.inForce("terms"))
	o.Shift(time.Hour)
	again := graphtest.Got(o.Operator.WithdrawDocument(o.ctx, made.ID, "why"))(t)
	require.Equal(t, gone.WithdrawnAt, again.WithdrawnAt, "the first time stays")
	graphtest.Refused(t, fault.InvalidInput)(o.Operator.PublishDocument(o.ctx, terms("1"), "why"))
	o.published(terms("2"))
	graphtest.Refused(t, fault.NotFound)(o.Operator.WithdrawDocument(o.ctx, uuid.New(), "why"))
}

func TestDocumentsAreChecked(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	before := o.state()
	for name, c := range map[string]struct {
		change  func(*operator.DocumentInput)
		refused string
	}{
		"no key":          {func(in *operator.DocumentInput) { in.Key = "" }, "key"},
		"key of capitals": {func(in *operator.DocumentInput) { in.Key = "Terms" }, "key"},
		"digit first":     {func(in *operator.DocumentInput) { in.Key = "1terms" }, "key"},
		"key of lines":    {func(in *operator.DocumentInput) { in.Key = "terms\n" }, "key"},
		"long key":        {func(in *operator.DocumentInput) { in.Key = strings.Repeat("a", 41) }, "key"},
		"no title":        {func(in *operator.DocumentInput) { in.Title = " " }, "title"},
		"long title":      {func(in *operator.DocumentInput) { in.Title = strings.Repeat("ж", 161) }, "title"},
		"no version":      {func(in *operator.DocumentInput) { in.Version = "" }, "version"},
		"long version":    {func(in *operator.DocumentInput) { in.Version = strings.Repeat("1", 41) }, "version"},
		"relative":        {func(in *operator.DocumentInput) { in.URL = "/terms" }, "url"},
		"without host":    {func(in *operator.DocumentInput) { in.URL = "https:///terms" }, "url"},
		"only a port":     {func(in *operator.DocumentInput) { in.URL = "http://:80" }, "url"},
		"another scheme":  {func(in *operator.DocumentInput) { in.URL = "javascript:alert(1)" }, "url"},
		"long address":    {func(in *operator.DocumentInput) { in.URL = "https://example.org/" + strings.Repeat("a", 1981) }, "url"},
		"no text":         {func(in *operator.DocumentInput) { in.Text = "" }, "text"},
		"long text":       {func(in *operator.DocumentInput) { in.Text = strings.Repeat("ж", 200_001) }, "text"},
		"control":         {func(in *operator.DocumentInput) { in.Text = "\x07" }, "text"},
	} {
		in := terms("1")
		c.change(&in)
		_, err := o.Operator.PublishDocument(o.ctx, in, "why")
		wrong := graphtest.RequireFault(t, err, fault.InvalidInput)
		require.Len(t, wrong.Fields, 1, name)
		require.Contains(t, wrong.Fields, c.refused, name)
	}
	_, err := o.Operator.PublishDocument(o.ctx, operator.DocumentInput{URL: "x"}, "")
	require.Len(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, 6)
	require.Equal(t, before, o.state())
	longest := operator.DocumentInput{
		Key: "a" + strings.Repeat("-", 39), Title: strings.Repeat("ж", 160), Version: strings.Repeat("1", 40),
		URL: "http://example.org/" + strings.Repeat("a", 1981), Text: strings.Repeat("ж", 200_000),
	}
	require.Equal(t, longest.Text, o.published(longest).Text)
}

// However many publications run at once, one version is in force afterwards.
func TestPublishingAtOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	var group sync.WaitGroup
	versions := []string{"1", "2", "3", "4", "5", "6"}
	for _, version := range versions {
		group.Go(func() {
			graphtest.OK(t)(o.Operator.PublishDocument(o.ctx, terms(version), "why"))
		})
	}
	group.Wait()
	require.Len(t, o.inForce("terms"), 1)
	require.EqualValues(t, len(versions), o.Count("SELECT count(*) FROM documents"))
}
