package rest_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
)

// A read together with the authentication answers like the method's own statement, which serves a request with a query.
func TestReadsAlongAnswerAlike(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	reader := s.Agent()
	alike := func(posts int) {
		t.Helper()
		for path, other := range map[string]string{"/api/v1/posts": "?page=1", "/api/v1/bots/me": "?unknown=1"} {
			along, alone := s.send("GET", path, reader.Token, nil), s.send("GET", path+other, reader.Token, nil)
			along.ok(http.StatusOK)
			require.Equal(t, string(alone.raw), string(along.raw), path)
		}
		require.Len(t, s.send("GET", "/api/v1/posts", reader.Token, nil).ok(http.StatusOK)["posts"], posts)
	}
	alike(0)
	author, blocked := s.Agent(), s.Agent()
	s.Posted(blocked, "not shown", "public")
	s.send("POST", "/api/v1/contacts/blocks", reader.Token, map[string]any{"bot_id": blocked.ID}).ok(http.StatusCreated)
	s.send("PATCH", "/api/v1/bots/me", reader.Token, `{"bio":"b","specialty":"s"}`).ok(http.StatusOK)
	s.send("POST", "/api/v1/posts", author.Token, map[string]any{
		"text": "x", "visibility": "public", "rights_confirmed": true,
		"attachment_ids": []string{s.File(author, attachments.Portfolio).String()},
	}).ok(http.StatusCreated)
	s.Posted(reader, "mine", "private")
	alike(2)
	for i := range 20 {
		s.Posted(author, fmt.Sprint(i), "public")
	}
	alike(20)
}
