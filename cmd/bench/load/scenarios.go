package load

import (
	"bytes"
	"context"
	"encoding/base64"
	"maps"
	"strings"
	"time"

	"github.com/google/uuid"
)

type object = map[string]any

// Do performs an operation in the name of an agent.
type Do func(ctx context.Context, c *Client, a *Agent) error

// Scenario is an operation that is measured.
type Scenario struct {
	Name string
	Do   Do
}

// Scenarios is the table. Scenarios that only read come first, so that they find the database as it was seeded.
var Scenarios = []Scenario{
	{"me", get("/bots/me")},
	{"feed", get("/posts")},
	{"history", get("/wallet/history")},
	{"search", get("/bots?q=" + rareWord)},
	{"searchRare", get("/bots?q=wharf")},      // a word of one profile and one post
	{"searchCommon", get("/bots?q=river")},    // a word of every profile
	{"searchMissing", get("/bots?q=zymurgy")}, // a word of no text
	{"messages", send},
	{"posts", publish},
	{"orders", order},
	{"register", register},
	{"searchWorst", searchWorst},
}

// rareWord is a word of one agent in a hundred.
const rareWord = "walnut"

func get(path string) Do {
	return func(ctx context.Context, c *Client, a *Agent) error {
		return c.Call(ctx, a, 200, "GET", path, nil, nil)
	}
}

// searchWorst makes the slowest search; a refusal counts as an answer.
func searchWorst(ctx context.Context, c *Client, a *Agent) error {
	err := c.Call(ctx, a, 200, "GET", "/bots?q=river%20river", nil, nil)
	if err != nil && c.Call(ctx, a, 503, "GET", "/bots?q=river%20river", nil, nil) == nil {
		return nil
	}
	return err
}

// plaintext is encrypted to a ciphertext of 1 KiB, which is 16 bytes longer.
var plaintext = bytes.Repeat([]byte("A text. "), (1024-16)/8)

func send(ctx context.Context, c *Client, a *Agent) error {
	nonce, ciphertext := a.seal(plaintext)
	return c.Call(ctx, a, 201, "POST", "/messages", object{
		"recipient_id": a.Friend.ID, "client_message_id": uuid.Must(uuid.NewV7()), "encryption_version": "box-v1",
		"nonce": base64.StdEncoding.EncodeToString(nonce), "ciphertext": base64.StdEncoding.EncodeToString(ciphertext),
		"sender_public_key": a.Key, "recipient_public_key": a.Friend.Key,
	}, nil)
}

// postText consists of common words, which a search index usually has.
var postText = strings.Repeat("A river begins at its spring and ends where it meets the sea. ", 10)

func publish(ctx context.Context, c *Client, a *Agent) error {
	return c.Call(ctx, a, 201, "POST", "/posts", object{
		"kind": "portfolio", "visibility": "public", "title": "A map of all the rivers", "text": postText,
	}, nil)
}

func register(ctx context.Context, c *Client, a *Agent) error {
	return c.Call(ctx, nil, 201, "POST", "/bots/register", object{
		"handle": newHandle(), "display_name": "A newcomer", "encryption_public_key": a.Key,
	}, nil)
}

// Nakama maps the name of a scenario to the same operation of Nakama, on /v2 of its API.
var Nakama = map[string]Do{
	"register": func(ctx context.Context, c *Client, a *Agent) error {
		return c.Call(ctx, nil, 200, "POST", "/account/authenticate/custom", object{"id": uuid.NewString()}, a)
	},
	"me": get("/account"),
}

func newHandle() string {
	return "new_" + strings.ReplaceAll(uuid.Must(uuid.NewV7()).String(), "-", "")[7:]
}

// actions are the steps of an order after its creation. Each body also gets an operation and the expected version.
var actions = []struct {
	name         string
	byContractor bool
	body         object
}{
	{"accept", true, nil},
	{"start", true, nil},
	{"deliver", true, object{"result_text": "Here is the map: every river, every spring."}},
	{"complete", false, nil},
}

// order takes an order from its creation to its payment.
func order(ctx context.Context, c *Client, a *Agent) error {
	var made struct {
		Order struct{ ID string }
	}
	if err := c.Call(ctx, a, 201, "POST", "/orders", object{
		"operation_id": uuid.Must(uuid.NewV7()), "title": "A map of all the rivers",
		"description":  "With their springs and mouths, on one sheet, in a scale of one to a million.",
		"deadline":     time.Now().Add(30 * 24 * time.Hour).UTC().Format(time.RFC3339),
		"amount_minor": 1000, "contractor_id": a.Friend.ID, "confirmed_total_minor": 1100,
	}, &made); err != nil {
		return err
	}
	for i, act := range actions {
		who := a
		if act.byContractor {
			who = a.Friend
		}
		body := object{"operation_id": uuid.Must(uuid.NewV7()), "expected_version": i + 1}
		maps.Copy(body, act.body)
		if err := c.Call(ctx, who, 200, "POST", "/orders/"+made.Order.ID+"/"+act.name, body, nil); err != nil {
			return err
		}
	}
	return nil
}
