package rest_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/webhooks"
	"stoa/rest/resttest"
)

var parameter = regexp.MustCompile(`\{\w+\}`)

// Every example follows its schema, and every JSON request and answer of the API has one.
func TestExamples(t *testing.T) {
	t.Parallel()
	d := describe(t)
	for _, o := range d.Operations {
		for place, example := range o.Examples() {
			require.NotNil(t, example.Value, "%s %s: %s has no example", o.Method, o.Path, place)
			require.NoError(t, example.Check(), "%s %s: %s", o.Method, o.Path, place)
		}
	}
}

// The API refuses the bodies that the description refuses: each request example is broken in the ways of a careless client.
func TestRequestsThatTheDescriptionRefuses(t *testing.T) {
	t.Parallel()
	s := newSite(t, graphtest.WithMail(new(graphtest.Mailbox)), graphtest.WithWebhooks(webhooks.SenderConfig{}))
	agent := s.Agent()
	s.RequireOwners()
	for _, o := range describe(t).Operations {
		example := requestExample(o)
		if example == nil {
			continue
		}
		path := parameter.ReplaceAllString(o.Path, uuid.NewString())
		for what, body := range spoilt(example) {
			raw, err := json.Marshal(body)
			require.NoError(t, err)
			if o.Accepts(raw) == nil {
				continue // optional members may be missing, an image may be null
			}
			a := s.send(o.Method, path, agent.Token, string(raw))
			require.Equal(t, http.StatusBadRequest, a.status, "%s %s with %s: %s\n%s", o.Method, path, what, raw, a.raw)
		}
	}
}

// requestExample returns the JSON object that is the example of an operation's request, or nil.
func requestExample(o *resttest.Operation) map[string]any {
	example, ok := o.Examples()["request"]
	if !ok || o.Method == http.MethodGet {
		return nil
	}
	body, _ := example.Value.(map[string]any)
	return body
}

// spoilt returns the broken variants of a body, by the change.
func spoilt(body map[string]any) map[string]any {
	with := func(name string, value any) map[string]any {
		changed := maps.Clone(body)
		changed[name] = value
		return changed
	}
	all := map[string]any{"a surplus member": with("surplus", 1), "an array": []any{}, "null": nil, "a number": 1}
	for _, name := range slices.Sorted(maps.Keys(body)) {
		without := maps.Clone(body)
		delete(without, name)
		all["no "+name] = without
		for what, value := range map[string]any{
			"null": nil, "a number": 1.5, "zero": 0, "true": true, "an array": []any{""}, "an object": map[string]any{}, "nothing": "",
			"a control character": "\x01", "something long": strings.Repeat("x", 30_000),
		} {
			if _, isBool := body[name].(bool); !isBool || what != "true" {
				all[what+" for "+name] = with(name, value)
			}
		}
	}
	return all
}
