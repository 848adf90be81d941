package operatorcli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"stoa/cmd/stoa/operatorcli/client"
	"stoa/cmd/stoa/terminal"
	"stoa/graph/console"
)

// special returns the commands without a list or procedure in the schema.
func special() []command {
	stuck := func(since any) map[string]any {
		at, _ := since.(time.Time) // the parameter's type
		return console.Stuck(time.Now().UTC(), at)
	}
	required := ast.NonNullNamedType("String", nil)
	found := list(sectionOf(schema.Types["Order"]), "list stuck-orders", "UPDATED_AT", parameter{
		field: "idle", of: ast.NamedType("Time", nil), standard: "3d", where: stuck, help: "How long untouched is too long: 36h or 7d, say.",
	})
	found.help = "Orders that are disputed, late, or untouched for a while with reserved credits; the longest waiting first."
	return []command{
		found,
		{"save-file", groupProcedures, "Save one of the files that review-order lists.", []parameter{
			{field: "orderId", of: idType, positional: true, help: "Id of the order."},
			{field: "file", of: idType, positional: true, help: "Id of the file."},
			{field: "to", of: required, help: "Where to put it; an existing file is not replaced."},
			newParameter(reasonField, "", required, false, ""),
		}, saveFile},
		{"sign-in", groupProcedures, "Print a link that signs a browser in once, within five minutes.", nil, signIn},
	}
}

// saveFile creates the target file before it reads the order, because each review is audited.
func saveFile(d *deps, given map[string]any) error {
	path, _ := given["to"].(string)
	place, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &client.UsageError{Text: fmt.Sprintf("--to: %s is there already", path)}
	}
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	raw, err := reviewedFile(d, given)
	if err == nil {
		_, err = place.Write(raw)
	}
	if err = errors.Join(err, place.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return d.detail(map[string]any{"id": given["file"], "path": path, "sizeBytes": len(raw)},
		[]field{{"File", fmt.Sprint(given["file"])}, {"Saved as", path}, {"Bytes", strconv.Itoa(len(raw))}})
}

func reviewedFile(d *deps, given map[string]any) ([]byte, error) {
	delete(given, "to")
	found, err := d.ask(context.Background(), `mutation ($orderId: ID!, $file: ID!, $reason: String!) {
		reviewOrder(orderId: $orderId, reason: $reason) { file(id: $file) } }`, given)
	if err != nil {
		return nil, err
	}
	reviewed, _ := found["reviewOrder"].(map[string]any)
	return base64.StdEncoding.DecodeString(fmt.Sprint(reviewed["file"]))
}

func signIn(d *deps, _ map[string]any) error {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, d.Origin+"/sign-in/codes", http.NoBody)
	if err != nil {
		return err
	}
	answer, err := d.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return d.Refused(answer.Status)
	}
	var made struct {
		Path      string `json:"path"`
		ExpiresIn int    `json:"expires_in"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&made); err != nil {
		return fmt.Errorf("the answer of %s: %w", d.Origin, err)
	}
	if d.json {
		return terminal.JSON(d.out, map[string]any{"url": d.Origin + made.Path, "expiresIn": made.ExpiresIn})
	}
	_, err = fmt.Fprintln(d.out, d.Origin+made.Path)
	return err
}
