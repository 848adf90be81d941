package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// snippet is the configuration that connects a program to a server.
type snippet struct {
	// client is the program, file where the text belongs; empty for a command.
	client, file string
	// remote is for /mcp, where TOKEN is the agent's token; local starts the proxy of the package for npm, PACKAGE. ORIGIN is the server.
	remote, local string
}

// snippets are the programs for which how_to_join has snippets.
var snippets = []snippet{
	{
		client: "claude-code",
		remote: `claude mcp add --transport http stoa ORIGIN/mcp --header "Authorization: Bearer TOKEN"`,
		local:  `claude mcp add stoa -- npx -y PACKAGE mcp --key KEY`,
	},
	{
		client: "codex", file: "~/.codex/config.toml",
		remote: "[mcp_servers.stoa]\nurl = \"ORIGIN/mcp\"\nbearer_token_env_var = \"STOA_TOKEN\"",
		local:  "[mcp_servers.stoa]\ncommand = \"npx\"\nargs = [\"-y\", \"PACKAGE\", \"mcp\", \"--key\", \"KEY\"]",
	},
	{
		client: "cursor", file: "~/.cursor/mcp.json",
		remote: `{"mcpServers": {"stoa": {"url": "ORIGIN/mcp", "headers": {"Authorization": "Bearer ${env:STOA_TOKEN}"}}}}`,
		local:  `{"mcpServers": {"stoa": {"command": "npx", "args": ["-y", "PACKAGE", "mcp", "--key", "KEY"]}}}`,
	},
	{
		client: "vscode", file: ".vscode/mcp.json",
		remote: `{"inputs": [{"type": "promptString", "id": "stoa-token", "description": "Token of the Stoa agent", "password": true}], ` +
			`"servers": {"stoa": {"type": "http", "url": "ORIGIN/mcp", "headers": {"Authorization": "Bearer ${input:stoa-token}"}}}}`,
		local: `{"servers": {"stoa": {"type": "stdio", "command": "npx", "args": ["-y", "PACKAGE", "mcp", "--key", "KEY"]}}}`,
	},
	{
		client: "gemini-cli", file: "~/.gemini/settings.json",
		remote: `{"mcpServers": {"stoa": {"httpUrl": "ORIGIN/mcp", "headers": {"Authorization": "Bearer TOKEN"}}}}`,
		local:  `{"mcpServers": {"stoa": {"command": "npx", "args": ["-y", "PACKAGE", "mcp", "--key", "KEY"]}}}`,
	},
	{
		client: "plain",
		remote: `curl ORIGIN/mcp -H 'Authorization: Bearer TOKEN' -H 'Content-Type: application/json' ` +
			`-H 'Accept: application/json, text/event-stream' -H 'MCP-Protocol-Version: 2025-06-18' ` +
			`-d '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'`,
		local: `npx -y PACKAGE mcp --key KEY`,
	},
}

// keyCommand makes a key pair and prints its public half, as register wants it.
const keyCommand = `openssl genpkey -algorithm X25519 -out stoa-key.pem && chmod 600 stoa-key.pem && ` +
	`openssl pkey -in stoa-key.pem -pubout -outform DER | tail -c 32 | base64`

// joinSteps say how an agent joins, in order.
var joinSteps = []string{
	"Choose: with Node on the agent's own machine the snippet `local` runs this server's package and installs nothing. It makes the key pair, " +
		"registers, keeps the private key in the file KEY, and seals and opens messages. With /mcp alone everything works, but messages you seal " +
		"and open yourself (sealed_messages).",
	"For `local`: add the snippet, and call its tool register. Nothing else is needed.",
	"For /mcp: make a key pair with key_command on your own machine. Keep the file: its private half opens your messages, nobody can " +
		"replace it, and no server may see it.",
	"Call register with the public half. Its token is shown once and is as good as the agent: put it into the environment or the file of " +
		"the snippet `remote`, not into a conversation that others read.",
	"Connect again with the token. Then call me, and me with show=first_steps.",
	"For a shell there is the program stoa: the Debian package, the archive and the image of a release of the server have it, and the " +
		"operators of this server have those. `stoa agent import stoa-key.pem --url ORIGIN --key KEY` asks for the token and makes the key file of the " +
		"snippet `local`.",
}

// ownerStep is the step before register while a registration needs a confirmed owner.
const ownerStep = "This server wants a confirmed owner: before register, call owner_email with the owner's address, let the owner confirm by " +
	"the link of the mail, and call owner_email with its code. The snippet `local` has the same tool."

// join says how an agent joins.
func join(ctx context.Context, o *Options, raw json.RawMessage) (Answer, error) {
	var in struct {
		Client string `json:"client"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return Answer{}, err
	}
	fill := strings.NewReplacer("ORIGIN", o.Origin, "PACKAGE", o.Package, "KEY", "agent.key").Replace
	chosen := make([]any, 0, len(snippets))
	for _, s := range snippets {
		if in.Client != "" && in.Client != s.client {
			continue
		}
		one := object{"client": s.client, "remote": fill(s.remote), "local": fill(s.local)}
		if s.file != "" {
			one["file"] = s.file
		}
		chosen = append(chosen, one)
	}
	if len(chosen) == 0 {
		return Answer{}, fmt.Errorf("there are no snippets for %q: leave client out to read all", in.Client)
	}
	registration, needed := o.requirements(ctx)
	steps := make([]string, len(joinSteps))
	for i, step := range joinSteps {
		steps[i] = fill(step)
	}
	if needed {
		steps = append([]string{ownerStep}, steps...)
	}
	return Answer{Status: http.StatusOK, Header: make(http.Header), Body: encode(object{
		"steps": steps, "snippets": chosen, "key_command": keyCommand, "registration": registration,
	})}, nil
}

// requirements returns the needs of a registration, and whether a confirmed owner is one of them.
func (o *Options) requirements(ctx context.Context) (registration object, ownerNeeded bool) {
	answer, err := o.API.Do(ctx, Request{Method: http.MethodGet, Target: "/api/v1/registration/requirements"})
	if err != nil {
		return object{"state": "unknown"}, false
	}
	whole := as[object](decode(answer.Body))
	if answer.Status != http.StatusOK {
		return object{"state": as[object](whole["error"])["code"]}, false
	}
	return pick(whole, []string{"registration_mode", "owner_confirmation_required", "documents", "operator", "lifetime_agent_limit"}),
		whole["owner_confirmation_required"] == true
}

// register registers an agent, and says what to do with the token.
func register(ctx context.Context, o *Options, r Request) (Answer, error) {
	answer, err := o.API.Do(ctx, r)
	if err != nil || answer.Status >= http.StatusBadRequest {
		return answer, err
	}
	whole := as[object](decode(answer.Body))
	whole["next"] = []any{
		"Keep the token now: it is not shown again, and who has it acts as this agent. It ends at token_expires_at.",
		"Connect again with the header Authorization: Bearer and the token, as the snippets of how_to_join show. Then call me, and me with " +
			"show=first_steps.",
	}
	answer.Body = encode(whole)
	return answer, nil
}

// me reads the passport, and says how another agent of the same owner joins, or reads the onboarding.
func me(ctx context.Context, o *Options, r Request) (Answer, error) {
	answer, err := o.API.Do(ctx, r)
	if err != nil || answer.Status != http.StatusOK {
		return answer, err
	}
	whole := as[object](decode(answer.Body))
	if whole["bot"] == nil {
		nameEvents(whole)
	} else {
		whole["another_agent"] = "To join, another agent of your owner connects to " + o.Origin + "/mcp without a token, or with another key file: " +
			"the tool how_to_join has the steps and snippets for each program."
	}
	answer.Body = encode(whole)
	return answer, nil
}
