package agentcli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"stoa/rest/client"
)

// importCommand makes the key file of an agent that registered by requests or by /mcp.
type importCommand struct {
	PEM   string `arg:"" name:"pem" type:"existingfile" help:"The private key, as openssl writes it."`
	Token string `env:"-" placeholder:"FILE" help:"File with the token; without it the token is read from standard input."`
}

// Run implements kong's command.
func (c importCommand) Run(d *deps) error {
	raw, err := os.ReadFile(c.PEM)
	if err != nil {
		return err
	}
	keys, err := client.ParsePEM(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", c.PEM, err)
	}
	token, err := c.token()
	if err != nil {
		return err
	}
	return shown(d.showBot)(client.Adopt(d.ctx, d.Key, cmp.Or(d.URL, localOrigin), keys, token))
}

func (c importCommand) token() (string, error) {
	read := func() ([]byte, error) { return io.ReadAll(io.LimitReader(os.Stdin, 1000)) }
	if c.Token != "" {
		read = func() ([]byte, error) { return os.ReadFile(c.Token) }
	}
	raw, err := read()
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(raw))
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s holds no token", cmp.Or(c.Token, "standard input"))
	}
	return token, nil
}
