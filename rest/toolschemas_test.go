package rest_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// geminiWords are the members of Schema in the Gemini API, except the ones that need alternatives. OpenAI's strict mode accepts
// them, too, after a client adds additionalProperties everywhere and lists all properties in required.
var geminiWords = []string{"type", "description", "enum", "items", "properties", "required", "minimum", "maximum"}

// The schemas of all tools' arguments, for agents and guests, use only words that all model providers accept.
func TestEveryProviderTakesTheArguments(t *testing.T) {
	t.Parallel()
	looked := 0
	var walk func(at string, schema map[string]any)
	walk = func(at string, schema map[string]any) {
		looked++
		for word := range schema {
			require.Contains(t, geminiWords, word, at)
		}
		require.IsType(t, "", schema["type"], at)
		properties, _ := schema["properties"].(map[string]any)
		switch schema["type"] {
		case "object":
			require.Contains(t, schema, "properties", at)
		case "array":
			require.Contains(t, schema, "items", at)
			walk(at+"[]", schema["items"].(map[string]any))
		case "string", "integer", "boolean":
		default:
			require.Fail(t, "an unusual type", "%s %v", at, schema["type"])
		}
		if named, ok := schema["enum"]; ok {
			require.Equal(t, "string", schema["type"], "%s: only strings can be named", at)
			require.NotEmpty(t, named, at)
			require.NotContains(t, named, "", at)
		}
		for _, name := range as[[]any](schema["required"]) {
			require.Contains(t, properties, name, at)
		}
		for name, inner := range properties {
			walk(at+"."+name, inner.(map[string]any))
		}
	}
	members, guests := sharedSite(t), ownerSite(t) // guests of the second site see all guest tools
	for _, m := range []*model{members.model(members.Agent()), guests.modelWith("")} {
		names := 0
		for tool, err := range m.session.Tools(t.Context(), nil) {
			require.NoError(t, err)
			names++
			walk(tool.Name, tool.InputSchema.(map[string]any))
		}
		require.LessOrEqual(t, names, 30)
	}
	require.Greater(t, looked, 100)
}

// The schema of an argument allows the same values as the API, and an empty value means the API's null.
func TestArgumentsSayNullWithoutNull(t *testing.T) {
	t.Parallel()
	s := tradeOn(newFileSite(t))
	ben := s.model(s.contractor)
	var mine map[string]any
	for tool, err := range ben.session.Tools(t.Context(), nil) {
		require.NoError(t, err)
		if tool.Name == "find_tasks" {
			mine = tool.InputSchema.(map[string]any)["properties"].(map[string]any)["mine"].(map[string]any)
		}
	}
	require.Equal(t, []any{"true"}, mine["enum"], "the API has no other value")
	for _, value := range []any{true, "true"} {
		require.Empty(t, ben.call("find_tasks", map[string]any{"mine": value})["tasks"])
	}
	for _, value := range []any{false, "false", "", nil, 1} {
		require.Equal(t, "invalid_input", ben.refused("find_tasks", map[string]any{"mine": value})["error"].(map[string]any)["code"], "%v", value)
	}

	file := s.post(s.contractor.Token, uploadForm("avatar", pngOf(t, 64, 64))).ok(http.StatusCreated)["attachment"].(map[string]any)["id"]
	visuals := func(arguments map[string]any) any {
		return ben.call("update_profile", arguments)["bot"].(map[string]any)["visuals"].(map[string]any)["avatar"]
	}
	require.NotNil(t, visuals(map[string]any{"avatar_attachment_id": file, "rights_confirmed": true}))
	require.Nil(t, visuals(map[string]any{"avatar_attachment_id": ""}))
	service := ben.call("offer_service", map[string]any{"title": "Sonnets", "description": "Long.", "amount_minor": 1000})["service"].(map[string]any)
	require.EqualValues(t, 1000, service["amount_minor"])
	free := ben.call("offer_service", map[string]any{"service_id": service["id"], "amount_minor": 0})["service"].(map[string]any)
	require.NotContains(t, free, "amount_minor")
}

// Exactly the tools that commit money or cannot be undone are marked as destructive.
func TestToolsSayWhatIsFinal(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	var final []string
	for tool, err := range s.model(s.Agent()).session.Tools(t.Context(), nil) {
		require.NoError(t, err)
		if *tool.Annotations.DestructiveHint {
			final = append(final, tool.Name)
		}
	}
	slices.Sort(final)
	require.Equal(t, []string{
		"acknowledge_events", "act_on_order", "answer_friend", "choose_answer", "offer_order", "rate_order", "take_back",
	}, final)
}
