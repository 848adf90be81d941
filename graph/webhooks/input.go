package webhooks

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/webhook"
	"stoa/graph/events"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/page"
	"stoa/graph/platform/web"
)

// maxURL is the maximum length of an address in bytes.
const maxURL = 2048

var (
	errURL       = errors.New("must be a URL such as https://agent.example/hook, with ASCII characters alone")
	errLong      = errors.New("must not be longer than 2048 characters")
	errScheme    = errors.New("must begin with https://")
	errUser      = errors.New("must not hold a user name or a password")
	errFragment  = errors.New("must not hold a fragment")
	errKinds     = errors.New("must name at least one kind of event, each once")
	errKind      = errors.New("must name kinds of events, such as message.created")
	errSigning   = errors.New("must be v1 or v1a")
	errState     = errors.New("must be active or paused")
	errUnchanged = errors.New("or kinds or own or state is required")
)

// CreateInput is the body of a new webhook. A nil field was not sent.
type CreateInput struct {
	URL *string `json:"url"`
	// Kinds are all kinds of events unless sent.
	Kinds []string `json:"kinds"`
	// Own is true unless sent.
	Own *bool `json:"own"`
	// Signing is v1 unless sent.
	Signing *string `json:"signing"`
}

// check fills in missing fields, except Own. Its fault is invalid_input, naming every field that is wrong.
func (in CreateInput) check(loopback bool) (made ent.Webhook, err error) {
	f := input.New()
	made = ent.Webhook{URL: input.Require(f, "url", in.URL), Kinds: in.Kinds, Signing: webhook.SigningV1}
	if in.URL != nil {
		made.Host, err = checkURL(made.URL, loopback)
		f.Add("url", err)
	}
	if made.Kinds == nil {
		made.Kinds = events.Kinds()
	}
	f.Add("kinds", checkKinds(made.Kinds))
	if in.Signing != nil {
		if made.Signing = webhook.Signing(*in.Signing); webhook.SigningValidator(made.Signing) != nil {
			f.Add("signing", errSigning)
		}
	}
	return made, f.Fault(fault.InvalidInput)
}

// UpdateInput names a webhook and its changes.
type UpdateInput struct {
	WebhookID string   `json:"-" path:"webhook_id"`
	URL       *string  `json:"url"`
	Kinds     []string `json:"kinds"`
	Own       *bool    `json:"own"`
	// State is active or paused.
	State *string `json:"state"`
}

// target is a checked UpdateInput: the webhook, and the host of its new address.
type target struct {
	id   uuid.UUID
	host string
}

// check returns invalid_id, or invalid_input naming every field that is wrong.
func (in UpdateInput) check(loopback bool) (t target, err error) {
	if t.id, err = input.ID("webhook_id", in.WebhookID); err != nil {
		return t, err
	}
	f := input.New()
	if in.URL == nil && in.Kinds == nil && in.Own == nil && in.State == nil {
		f.Add("url", errUnchanged)
	}
	if in.URL != nil {
		t.host, err = checkURL(*in.URL, loopback)
		f.Add("url", err)
	}
	if in.Kinds != nil {
		f.Add("kinds", checkKinds(in.Kinds))
	}
	if in.State != nil && !slices.Contains(settable, webhook.State(*in.State)) {
		f.Add("state", errState)
	}
	return t, f.Fault(fault.InvalidInput)
}

// Input names a webhook.
type Input struct {
	WebhookID string `json:"-" path:"webhook_id"`
}

// check returns invalid_id unless the id is a UUID.
func (in Input) check() (uuid.UUID, error) { return input.ID("webhook_id", in.WebhookID) }

// DeliveriesInput names a webhook and a page of its attempts.
type DeliveriesInput struct {
	WebhookID string `json:"-" path:"webhook_id"`
	// Before is the last attempt of the previous page.
	Before page.Param `json:"-" query:"before"`
}

// check returns invalid_id unless both ids are UUIDs; before may be absent.
func (in DeliveriesInput) check() (input.List, error) {
	return input.ListOf("webhook_id", in.WebhookID, in.Before)
}

// checkURL checks the form of an address and returns its host. Plain http is accepted only for the loopback, if that is allowed.
// The resolved address of the host is checked for each connection.
func checkURL(sent string, loopback bool) (host string, err error) {
	if len(sent) > maxURL {
		return "", errLong
	}
	if strings.ContainsFunc(sent, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", errURL
	}
	parsed, err := url.Parse(sent)
	if err != nil || parsed.Opaque != "" || parsed.Hostname() == "" && parsed.Scheme != "" {
		return "", errURL
	}
	switch {
	case parsed.Scheme != "https" && (parsed.Scheme != "http" || !loopback || !web.IsLoopback(parsed.Hostname())):
		return "", errScheme
	case parsed.User != nil:
		return "", errUser
	case parsed.Fragment != "" || strings.Contains(sent, "#"):
		return "", errFragment
	}
	return parsed.Host, nil
}

func checkKinds(kinds []string) error {
	known := events.Kinds()
	for i, kind := range kinds {
		if !slices.Contains(known, kind) {
			return errKind
		}
		if slices.Contains(kinds[:i], kind) {
			return errKinds
		}
	}
	if len(kinds) == 0 {
		return errKinds
	}
	return nil
}
