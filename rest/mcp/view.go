package mcp

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// card defines how a list shows a record.
type card struct {
	// keeps are the members that it shows.
	keeps []string
	// whole is set if texts are not shortened, because no tool reads such a record alone.
	whole bool
}

// excerpt is the number of characters of a text that a card shows.
const excerpt = 160

// cards has the cards by the name of the list.
var cards = map[string]card{
	"bots":  {keeps: []string{"id", "handle", "display_name", "specialty", "bio", "friendship", "resembles", "reputation", "last_seen"}},
	"posts": {keeps: []string{"id", "author", "kind", "visibility", "title", "text", "created_at", "published_at", "actions"}},
	"orders": {keeps: []string{
		"id", "state", "version", "title", "role", "customer", "contractor", "amount_minor", "total_minor", "deadline", "outcome", "dispute",
		"refund_proposal", "task_id", "service_id", "drafts", "rated", "actions",
	}},
	"tasks": {keeps: []string{
		"id", "customer", "title", "description", "deadline", "amount_minor", "total_minor", "state", "response_count", "order_id", "actions",
	}},
	"services": {keeps: []string{"id", "bot", "title", "description", "amount_minor", "total_minor", "orders", "actions"}},
	"contacts": {keeps: []string{"id", "friendship", "bot", "resembles", "created_at", "actions"}, whole: true},
	"entries":  {keeps: []string{"id", "kind", "account_kind", "delta_minor", "order_id", "created_at"}},
	"ratings":  {keeps: []string{"id", "author", "author_role", "stars", "text", "order_id", "created_at"}, whole: true},
	"responses": {
		keeps: []string{"id", "task_id", "task", "bot", "text", "amount_minor", "total_minor", "state", "created_at", "actions"}, whole: true,
	},
	"drafts":   {whole: true},
	"feedback": {whole: true},
	"notices":  {whole: true},
	"events":   {whole: true},
}

// singular maps the member with a single record to the name of its list.
var singular = map[string]string{
	"order": "orders", "now": "orders", "task": "tasks", "post": "posts", "service": "services", "contact": "contacts", "response": "responses",
}

// fileMembers are the members of a file that models see. URLs are left out, since no tool opens them.
var fileMembers = []string{"id", "file_name", "media_type", "size_bytes", "purpose", "status", "width", "height", "pages", "available"}

// leftOut are members of an agent's passport or card that repeat another member, or that no model needs.
var leftOut = []string{"profile", "encryption_key_fingerprint", "is_demo", "kind"}

// hiddenMembers are members of answers that models do not get.
var hiddenMembers = []string{"page", "page_size"}

// shown returns a value of an answer as models get it. listed is set if the value is in a list.
func (s *shower) shown(value any, listed bool) any {
	switch value := value.(type) {
	case object:
		return s.object(value, listed)
	case []any:
		all := make([]any, len(value))
		for i, element := range value {
			all[i] = s.shown(element, listed)
		}
		return all
	}
	return value
}

// shower shows records with the actions of this server's tools, and without duplicates.
type shower struct {
	actions *actions
	// self is the id of the agent to whom the records are shown; empty if it has none.
	self string
}

func (s *shower) record(name string, value any) any {
	if list := singular[name]; list != "" {
		s.addPossible(list, value)
	}
	return s.shown(value, false)
}

func (s *shower) object(record object, listed bool) any {
	_, isAgent := record["encryption_public_key"]
	_, isPassport := record["profile"]
	_, isFile := record["media_type"]
	switch {
	case isAgent && !isPassport && listed:
		return "@" + as[string](record["handle"])
	case isAgent && !isPassport:
		return pick(record, []string{"id", "handle", "display_name"})
	case isFile:
		return pick(record, fileMembers)
	}
	made := make(object, len(record))
	for name, member := range record {
		switch {
		case member == nil, isPassport && slices.Contains(leftOut, name):
		case name == "actions":
			made[name] = s.actions.all(as[[]any](member))
		case name == "action":
			if action, ok := member.(object); ok {
				if tool := s.actions.one(action); tool != nil {
					made[name] = tool
				}
				continue
			}
			made[name] = member
		case name == "documentation_url", name == "message" && isEnvelope(member): // no tool opens them
		case name == "visuals":
			visuals := as[object](s.shown(member, listed))
			delete(visuals, "character_description") // the record has it beside the visuals, too
			made[name] = visuals
		default:
			made[name] = s.shown(member, listed)
		}
	}
	return made
}

// isEnvelope reports whether a value is a sealed message, which models cannot read.
func isEnvelope(value any) bool {
	_, sealed := as[object](value)["ciphertext"]
	return sealed
}

func (s *shower) card(list string, record any) any {
	s.addPossible(list, record)
	return pickCard(s.shown(record, list != "contacts"), list)
}

func pick(record object, names []string) object {
	picked := make(object, len(names))
	for _, name := range names {
		if value := record[name]; value != nil {
			picked[name] = value
		}
	}
	return picked
}

// most returns how many characters of a text the list shows; 0 shows all.
func (c card) most(otherwise int) int {
	if c.whole || otherwise > 0 && otherwise < excerpt {
		return otherwise
	}
	return excerpt
}

// withoutPaths returns a text of the server with requests replaced by the names of tools.
func (a *actions) withoutPaths(text string) string {
	return requests.ReplaceAllStringFunc(text, func(request string) string {
		method, path, _ := strings.Cut(request, " ")
		if found, _ := a.match(method, path); found != nil {
			return found.name
		}
		return request
	})
}

// requests matches requests of the API in a text.
var requests = regexp.MustCompile(`(?:GET|POST|PATCH|DELETE) /[a-z0-9/_{}-]*[a-z0-9_}/]`)

// actions translates requests of the API into calls of tools.
type actions []actionRow

// actionRow is a request that a tool makes.
type actionRow struct {
	*tool
	builtWay
}

func (a *actions) add(b *built) {
	for _, w := range b.ways {
		*a = append(*a, actionRow{b.row, w})
	}
}

// match returns the tool of a request, and the parameters of its path. A path without parameters is preferred.
func (a *actions) match(method, path string) (found *actionRow, parameters object) {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	for _, row := range *a {
		if row.method != method || strings.Count(row.path, "/")+1 != len(parts) {
			continue
		}
		named, fits := make(object), true
		for j, part := range strings.Split(row.path, "/") {
			name, isParameter := strings.CutPrefix(part, "{")
			if isParameter {
				named[strings.TrimSuffix(name, "}")] = parts[j]
			} else if part != parts[j] {
				fits = false
			}
		}
		if fits && (found == nil || len(named) < len(parameters)) {
			found, parameters = &row, named
		}
	}
	return found, parameters
}

// all returns the actions of a record as calls of tools. Actions without a tool are left out.
func (a *actions) all(actions []any) []any {
	made := make([]any, 0, len(actions))
	for _, action := range actions {
		if call := a.one(as[object](action)); call != nil {
			made = append(made, call)
		}
	}
	return made
}

// one returns an action as a call of a tool, nil if no tool does it: arguments has the known arguments, and fill_in names the
// others.
func (a *actions) one(action object) any {
	found, arguments := a.match(as[string](action["method"]), as[string](action["path"]))
	if found == nil {
		return nil
	}
	if found.when != "" {
		arguments[found.choice] = found.when
	}
	lacking := make([]any, 0)
	body := as[object](action["body"])
	for _, name := range slices.Sorted(maps.Keys(body)) {
		switch value := body[name]; {
		case fencedWhole(value): // its fence would become part of the data
			lacking = append(lacking, name)
		case value != nil:
			arguments[name] = value
		case name != operationID && name != "client_message_id":
			lacking = append(lacking, name)
		}
	}
	call := object{"tool": found.name, "arguments": arguments}
	if len(lacking) > 0 {
		call["fill_in"] = lacking
	}
	return call
}
