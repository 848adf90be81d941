package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"stoa/cmd/stoa/doctor"
	"stoa/cmd/stoa/doctor/engine"
	"stoa/cmd/stoa/terminal"
	"stoa/rest"
	"stoa/rest/client"
	"stoa/rest/client/keylog"
	"stoa/rest/client/receipt"
)

// verifyCommand checks a receipt without its server (docs/contract.md §12.5). It makes a request only if --keys is an address.
type verifyCommand struct {
	File string `arg:"" help:"The answer of GET /api/v1/orders/{id}/receipt, or of /ratings/{id} on the site, or the receipts of an archive; - reads standard input."`

	Keys    string   `env:"-" help:"The keys of the server (/.well-known/jwks.json), which the log must prove: a file, or an address to fetch."`
	LogKey  []string `env:"-" sep:"none" placeholder:"VKEY" help:"A key of the server's log that you trust."`
	Trust   string   `env:"-" placeholder:"FILE" help:"A trust file of an agent, whose key of the server's log is trusted."`
	Witness []string `env:"-" sep:"none" placeholder:"VKEY" help:"A witness that must have signed the head of the log."`
	Terms   string   `env:"-" help:"The agreed terms: the order as GET /api/v1/orders/{id} answers it, stoa agent order --json prints it, or an archive has it."`
	Files   []string `env:"-" name:"file" sep:"none" placeholder:"PATH" help:"A file that must be among the files of the order."`
}

func (verifyCommand) Help() string {
	return "Keys inside the file are never trusted. Exit codes: 0 valid under keys that you gave, 1 invalid, 2 sound but by a key that " +
		"none of yours vouches for, or that the log does not prove (or an argument that is not understood), 3 not in a witnessed log."
}

// verdicts are the exit codes of findings. Everything else is a failure.
var verdicts = map[error]int{receipt.ErrInvalid: exitFailure, receipt.ErrUnvouched: 2, receipt.ErrUnlogged: 3}

const (
	// maxKeySet bounds a fetched key set, in bytes.
	maxKeySet   = 1 << 20
	keysTimeout = 30 * time.Second
)

// Run prints each receipt of the file, until one is not valid: then it returns an exitError.
func (c *verifyCommand) Run(out io.Writer) error {
	trust, err := c.trust()
	if err != nil {
		return err
	}
	raw, err := readInput(c.File)
	if err != nil {
		return err
	}
	for _, one := range jsonValues(raw) {
		if err := c.verify(out, one, trust); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(out, "valid")
	return err
}

// jsonValues splits a file of several JSON values, such as an archive's receipts.jsonl. Any other file is one document.
func jsonValues(raw []byte) (all [][]byte) {
	for decoder := json.NewDecoder(bytes.NewReader(raw)); ; {
		var one json.RawMessage
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) && len(all) > 0 {
			return all
		} else if err != nil {
			return [][]byte{raw}
		}
		all = append(all, one)
	}
}

// verify prints the content of a receipt, and returns an exitError unless it is valid.
func (c *verifyCommand) verify(out io.Writer, raw []byte, trust receipt.Trust) error {
	found, err := receipt.Verify(raw, trust)
	if found != nil {
		if wrong := c.compare(found.Receipt); wrong != nil {
			found, err = nil, wrong
		}
	}
	if found != nil {
		printVerified(out, found)
	}
	if errors.Is(err, receipt.ErrUnvouched) && c.Keys == "" {
		err = fmt.Errorf("%w; --keys names the server's keys, a file or an address such as https://stoa.example/.well-known/jwks.json", err)
	}
	for kind, code := range verdicts {
		if errors.Is(err, kind) {
			return exitError{err, code}
		}
	}
	return err
}

// trust reads the keys of the command line.
func (c *verifyCommand) trust() (trust receipt.Trust, err error) {
	if c.Keys != "" {
		raw, err := readKeys(c.Keys)
		if err != nil {
			return trust, err
		}
		if trust.Keys, err = receipt.ParseKeys(raw); err != nil {
			return trust, fmt.Errorf("%s: %w", c.Keys, err)
		}
	}
	if trust.Logs, err = parseAll(c.LogKey, keylog.ParseLogKey); err != nil {
		return trust, err
	}
	if c.Trust != "" {
		kept, err := keptLogKey(c.Trust)
		if err != nil {
			return trust, err
		}
		trust.Logs = append(trust.Logs, kept)
	}
	trust.Witnesses, err = parseAll(c.Witness, keylog.ParseWitnessKey)
	return trust, err
}

// keptLogKey returns the key of the log in a trust file.
func keptLogKey(path string) (note.Verifier, error) {
	if _, err := os.Stat(path); err != nil { // OpenTrust would make the file
		return nil, err
	}
	trust, err := client.OpenTrust(path)
	if err != nil {
		return nil, err
	}
	head, kept, err := trust.Log()
	if err != nil {
		return nil, err
	}
	if !kept {
		return nil, fmt.Errorf("%s keeps no head of a key log", path)
	}
	return keylog.ParseLogKey(head.Vkey)
}

func parseAll(vkeys []string, parse func(string) (note.Verifier, error)) ([]note.Verifier, error) {
	all := make([]note.Verifier, len(vkeys))
	for i, vkey := range vkeys {
		var err error
		if all[i], err = parse(strings.TrimSpace(vkey)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// compare compares the receipt with terms and files.
func (c *verifyCommand) compare(said *receipt.Payload) error {
	if c.Terms == "" && len(c.Files) == 0 {
		return nil
	}
	if said == nil {
		return exitError{errors.New("a rating has neither terms nor files"), exitFailure}
	}
	if c.Terms != "" {
		raw, err := readInput(c.Terms)
		if err != nil {
			return err
		}
		if err := said.CheckTerms(raw); err != nil {
			return err
		}
	}
	for _, path := range c.Files {
		raw, err := os.ReadFile(path)
		if err == nil {
			err = said.CheckFile(bytes.NewReader(raw))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

func printVerified(out io.Writer, found *receipt.Verified) {
	if said := found.Receipt; said != nil {
		paid, got := said.TotalMinor, said.AmountMinor
		if said.Outcome != "accepted" {
			paid, got = 0, 0
		}
		fmt.Fprintf(out, "order %s at %s: %s\n@%s paid %d for work of @%s, who got %d (minor units)\n", said.OrderID, said.Issuer, said.Outcome,
			said.Customer.Handle, paid, said.Contractor.Handle, got)
	}
	for _, r := range found.Ratings {
		fmt.Fprintf(out, "rating %s: %d stars by %s of %s\n", r.ID, r.Stars, r.AuthorID, r.SubjectID)
	}
	for _, head := range found.Heads {
		fmt.Fprintf(out, "in the log %s of %d entries, %d of your witnesses signed\n", head.Origin, head.Size, len(head.By))
	}
}

// readInput reads a file, or standard input for -.
func readInput(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(os.Stdin)
	}
	return os.ReadFile(path)
}

// readKeys reads a key set from a file or an address.
func readKeys(from string) ([]byte, error) {
	if !strings.HasPrefix(from, "https://") && !strings.HasPrefix(from, "http://") {
		return readInput(from)
	}
	response, err := (&http.Client{Timeout: keysTimeout}).Get(from) //nolint:noctx // the client has a timeout
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %d", from, response.StatusCode)
	}
	return io.ReadAll(io.LimitReader(response.Body, maxKeySet))
}

// doctorCommand checks a server's descriptions of itself (§9), or the features of a database that Stoa needs.
type doctorCommand struct {
	URL string `default:"http://127.0.0.1:8080" help:"Origin of the running server."`
	engine.Config
	JSON bool `env:"-" name:"json" help:"With --database: print the checks as JSON."`
}

func (c doctorCommand) Validate() error {
	if c.Address == "" && (c.Config != engine.Config{} || c.JSON) {
		return errors.New("--database is missing: --database-direct, --database-spread and --json belong to it")
	}
	return errors.Join(checkBaseURL("url", c.URL), checkDatabaseURL("database", c.Address), checkDatabaseURL("database-direct", c.Direct))
}

func (c doctorCommand) Run(out io.Writer) error {
	if c.Address == "" {
		return doctor.Examine(context.Background(), c.URL, out)
	}
	ctx := contextUntilSignal(slog.New(slog.DiscardHandler))
	c.Address, c.Direct = spreadHosts(c.Address), spreadHosts(c.Direct)
	report, err := engine.Examine(ctx, c.Config)
	if len(report.Results) == 0 {
		return explainDatabaseError(err)
	}
	if c.JSON {
		err = errors.Join(err, terminal.JSON(out, report))
	} else {
		report.Print(out)
	}
	return errors.Join(err, report.Err())
}

// openapiCommand prints the description of the API without a server or a database.
type openapiCommand struct {
	Format  string `default:"yaml" enum:"yaml,json" help:"yaml or json."`
	BaseURL string `default:"http://127.0.0.1:8080" help:"Origin of the server that is described."`
}

func (c openapiCommand) Validate() error { return checkBaseURL("base-url", c.BaseURL) }

// Run prints the description that /api/v1/openapi.json serves (§9).
func (c openapiCommand) Run(out io.Writer) error {
	text := rest.OpenAPIYAML(c.BaseURL)
	if c.Format == "json" {
		text = append(rest.OpenAPI(c.BaseURL), '\n')
	}
	_, err := out.Write(text)
	return err
}
