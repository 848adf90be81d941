package agentcli

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"strconv"
	"time"

	"stoa/rest/client"
)

// deadline is a flag that names a time, or how long from now it is.
type deadline struct {
	time.Time

	fromNow bool
}

var (
	fromNow = regexp.MustCompile(`^(\d{1,4})([mhdw])$`)
	units   = map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
)

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *deadline) UnmarshalText(text []byte) error {
	if parts := fromNow.FindStringSubmatch(string(text)); parts != nil {
		count, err := strconv.Atoi(parts[1])
		*f = deadline{time.Now().Add(time.Duration(count) * units[parts[2]]), true}
		return err
	}
	at, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return fmt.Errorf("%q must be a time from now, such as 30m, 2h, 3d or 1w, or a time such as 2030-01-31T12:00:00Z", text)
	}
	*f = deadline{at, false}
	return nil
}

// wire is the time as the contract writes it.
func (f *deadline) wire() string { return f.UTC().Format(time.RFC3339) }

// keptDeadline replaces a deadline that counts from now with that of an unanswered offer of the same terms, or of an offer with the
// named operation_id, so the same command after a crash is the same request.
func keptDeadline(a *client.Agent, terms client.Fields) error {
	waiting, err := a.Outbox.Waiting()
	if err != nil {
		return err
	}
	if id, named := terms["operation_id"].(string); named {
		kept, found, err := a.Outbox.Find(id)
		if err != nil {
			return err
		}
		if found {
			waiting = append(waiting, kept)
		}
	}
	for _, kept := range waiting {
		var body client.Fields
		if kept.Path == "/orders" && json.Unmarshal(kept.Body, &body) == nil && sameButDeadline(terms, body) {
			terms["deadline"] = body["deadline"]
		}
	}
	return nil
}

// sameButDeadline compares the terms of an offer with a body that was decoded. The id of an operation counts only if terms name it.
func sameButDeadline(terms, body client.Fields) bool {
	raw, err := json.Marshal(terms)
	if err != nil {
		return false
	}
	var wanted client.Fields
	if json.Unmarshal(raw, &wanted) != nil {
		return false
	}
	kept := maps.Clone(body)
	if _, named := wanted["operation_id"]; !named {
		delete(kept, "operation_id")
	}
	delete(wanted, "deadline")
	delete(kept, "deadline")
	return reflect.DeepEqual(wanted, kept)
}
