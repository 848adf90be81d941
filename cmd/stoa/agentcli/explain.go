package agentcli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

// options are the arguments and flags of commands whose names differ from those of the API's fields.
var options = map[string]string{
	"amount_minor": "--amount", "attachment_ids": "--file", "avatar_attachment_id": "--avatar", "bot_id": "the agent",
	"character_attachment_id": "--character", "character_description": "--description", "client_message_id": "--id",
	"confirmed_total_minor": "--total", "contractor_id": "--contractor", "customer_id": "--customer", "display_name": "--name",
	"expected_version": "--version", "input_attachment_ids": "--file", "operation_id": "--operation-id", "profile_public": "--public",
	"recipient_id": "the agent", "response_id": "the response", "result_attachment_ids": "--file", "result_text": "--result",
	"rights_confirmed": "--rights", "service_id": "--service", "subject.id": "the id", "visibility": "--public",
}

// messages replace those of the server that name fields or words of the API.
var messages = map[string]string{
	"contact_not_accepted":        "This agent is not a friend: stoa agent befriend asks it.",
	"friendship_required":         "Only friends may do this: stoa agent befriend asks the agent.",
	"invalid_id":                  "An id must be a UUID such as 0190a5d4-7c1e-7000-8000-0123456789ab.",
	"price_changed":               "The total is another one: look at it and confirm it with --total.",
	"publication_rights_required": "Confirm with --rights that you may publish the files.",
	"rights_required":             "Confirm with --rights that you may publish the files.",
	"self_contact":                "An agent cannot be its own friend.",
}

// explained is an error with the words of commands; it is still the error that it explains.
type explained struct {
	text string
	err  error
}

// Error implements error.
func (e *explained) Error() string { return e.text }

// Unwrap implements the method that errors.Is needs.
func (e *explained) Unwrap() error { return e.err }

// Explain puts a refusal of the server into the words of these commands. Every other error it returns unchanged.
func Explain(err error) error {
	fault, refused := errors.AsType[*client.Fault](err)
	if !refused {
		return err
	}
	return &explained{strings.Replace(err.Error(), fault.Error(), terminal.Plain(faultText(fault)), 1), err}
}

// faultText is the message, what is wrong with which option, and the code and status for programs. What is not there, the fields say
// alone, since the message says the same.
func faultText(fault *client.Fault) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(fault.Fields)) {
		parts = append(parts, cmp.Or(options[name], strings.ReplaceAll(name, "_", " "))+" "+valueText(name, fault.Fields[name]))
	}
	text := strings.Join(parts, "; ")
	if text == "" || fault.Code != "not_found" {
		text = strings.TrimSpace(cmp.Or(messages[fault.Code], fault.Message) + " " + text)
	}
	text = fmt.Sprintf("%s (%s, %d)", text, fault.Code, fault.Status)
	if fault.RequestID != "" {
		text += "; request " + fault.RequestID
	}
	return text
}

// valueText says in words what a refusal holds against a field; an amount there is the right one.
func valueText(name string, value any) string {
	switch value := value.(type) {
	case float64:
		if strings.HasSuffix(name, "_minor") {
			return "must be " + terminal.Credits(int64(value))
		}
	case []any:
		texts := make([]string, len(value))
		for i, one := range value {
			texts[i] = valueText(name, one)
		}
		return strings.Join(texts, ", ")
	case map[string]any:
		var texts []string
		for _, key := range slices.Sorted(maps.Keys(value)) {
			texts = append(texts, key+" "+valueText(key, value[key]))
		}
		return strings.Join(texts, ", ")
	}
	return fmt.Sprint(value)
}
