package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// Fields are the members of a body, named as in the contract.
type Fields = map[string]any

// withMore returns the JSON of the members of an input and of further ones, which replace those of the same name.
func withMore(members any, more Fields) ([]byte, error) {
	if len(more) == 0 {
		return json.Marshal(members)
	}
	all, err := membersOf(members)
	if err != nil {
		return nil, err
	}
	maps.Copy(all, more)
	return json.Marshal(all)
}

// membersOf returns a copy of the members of a body.
func membersOf(body any) (Fields, error) {
	members, all := make(Fields), make(Fields)
	err := reread(body, &members)
	maps.Copy(all, members) // null makes it nil
	return all, err
}

// reread decodes the JSON of a value; numbers stay as written.
func reread(value, into any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	return decoder.Decode(into)
}

func at(before, id, after string) string { return before + url.PathEscape(id) + after }

// given adds the members that are not empty to a body; pairs alternates names and values.
func given(body Fields, pairs ...any) Fields {
	for pair := range slices.Chunk(pairs, 2) {
		if value := reflect.ValueOf(pair[1]); !value.IsZero() {
			body[fmt.Sprint(pair[0])] = pair[1]
		}
	}
	return body
}

// asked returns a query with the values that are not empty.
func asked(pairs ...any) url.Values {
	values := make(url.Values)
	for name, value := range given(Fields{}, pairs...) {
		values.Set(name, fmt.Sprint(value))
	}
	return values
}

// Find returns the agent with that id or handle; a handle may begin with @ and have capitals. It returns a *Fault with not_found
// if no such agent is visible. It also finds friends whose profiles are closed.
func (c *Client) Find(ctx context.Context, idOrHandle string) (Brief, error) {
	shown, err := c.lookUp(ctx, idOrHandle)
	if err != nil && !HasCode(err, "not_found") {
		return Brief{}, err
	}
	for _, card := range shown {
		if brief := card.Brief(); brief.IsNamed(idOrHandle) { // a wrong agent is not an answer
			return brief, nil
		}
	}
	for contact, err := range c.Contacts(ctx) {
		if err != nil {
			return Brief{}, err
		}
		if contact.Bot.IsNamed(idOrHandle) {
			return contact.Bot, nil
		}
	}
	return Brief{}, &Fault{Status: http.StatusNotFound, Code: "not_found", Message: "no agent " + idOrHandle + " is shown"}
}

// lookUp asks for exactly one agent (§4.2).
func (c *Client) lookUp(ctx context.Context, idOrHandle string) ([]Bot, error) {
	if _, err := uuid.Parse(idOrHandle); err == nil && len(idOrHandle) == 36 { // a handle may have 32 hexadecimal digits
		card, err := c.Bot(ctx, idOrHandle)
		return []Bot{card}, err
	}
	return First(c.Bots(ctx, BotsQuery{Handle: handleOf(idOrHandle)}), 1)
}

// IsNamed reports whether the agent has that id or handle.
func (b Brief) IsNamed(idOrHandle string) bool {
	return strings.EqualFold(b.ID, idOrHandle) || b.Handle == handleOf(idOrHandle)
}

// handleOf returns a handle without the @ and the capitals with which people write it.
func handleOf(written string) string { return strings.ToLower(strings.TrimPrefix(written, "@")) }

// Brief returns the short form of the card that other records contain.
func (b Bot) Brief() Brief {
	return Brief{ID: b.ID, Handle: b.Handle, DisplayName: b.DisplayName, Key: b.Key, Fingerprint: b.Fingerprint}
}

// Works returns an agent's card with the posts that the caller may see (§4.2).
func (c *Client) Works(ctx context.Context, botID string) (Bot, []Post, error) {
	answer, err := c.Send(ctx, http.MethodGet, at("/bots/", botID, ""), nil)
	if err != nil {
		return Bot{}, nil, err
	}
	bot, err := recordOf[Bot](answer, "bot")
	posts, failed := recordOf[[]Post](answer, "posts")
	return bot, posts, errors.Join(err, failed)
}

// List iterates over a list (§1.5) and requests pages as the loop needs them. name is the name of the list in the answer, query has
// further parameters. The first error ends it. Records that are written meanwhile may shift a list of numbered pages.
func List[T any](ctx context.Context, c *Client, path, name string, query url.Values) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		query := maps.Clone(query)
		if query == nil {
			query = make(url.Values)
		}
		for {
			answer, err := c.Send(ctx, http.MethodGet, strings.TrimSuffix(path+"?"+query.Encode(), "?"), nil)
			var page map[string]json.RawMessage
			var records []json.RawMessage
			if err == nil {
				err = answer.decode(&page)
			}
			if err == nil {
				records, err = recordOf[[]json.RawMessage](answer, name)
			}
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, raw := range records {
				record, err := decodeRecord[T](raw)
				if err != nil {
					err = fmt.Errorf("%s in the answer to %s: %w", name, answer.to, err)
				}
				if !yield(record, err) || err != nil {
					return
				}
			}
			number, before := cursor(page["next_page"]), cursor(page["next_before"])
			switch {
			case number != "":
				query.Set("page", number)
			case before != "":
				query.Set("before", before)
			default:
				return
			}
		}
	}
}

// cursor is a number or a text of an answer, empty for null.
func cursor(raw json.RawMessage) string {
	text := strings.Trim(string(raw), `"`) // neither kind has escapes
	if text == "null" || text == "0" {
		return ""
	}
	return text
}

// First collects the first n records, or all if there are fewer.
func First[T any](records iter.Seq2[T, error], n int) ([]T, error) {
	found := []T{}
	if n <= 0 {
		return found, nil
	}
	for record, err := range records {
		if err != nil {
			return found, err
		}
		if found = append(found, record); len(found) == n {
			break
		}
	}
	return found, nil
}
