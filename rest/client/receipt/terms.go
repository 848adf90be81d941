package receipt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// terms holds the terms of an order, in the order of canonical JSON.
type terms struct {
	AmountMinor json.Number `json:"amount_minor"`
	Deadline    string      `json:"deadline"`
	Description string      `json:"description"`
	FeeBps      json.Number `json:"fee_bps"`
	InputFiles  []termsFile `json:"input_files"`
	OrderID     string      `json:"order_id"`
	Title       string      `json:"title"`
}

type termsFile struct {
	MediaType *string     `json:"media_type"`
	SHA256    string      `json:"sha256"`
	SizeBytes json.Number `json:"size_bytes"`
}

// separators has encoding/json write what it escapes and canonical JSON does not. A backslash of the text is passed over with its own.
var separators = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029")

// agreement is an order, or what its terms are made of.
type agreement struct {
	terms
	ID               string      `json:"id"`
	InputAttachments []termsFile `json:"input_attachments"`
}

// CheckTerms checks that a receipt is of the terms in a file: an order, as GET /api/v1/orders/{id} answers it or alone, or a JSON object
// with order_id, title, description, deadline, amount_minor, fee_bps and input_files. Of several orders, such as those of an archive's
// orders.jsonl, one must fit. Its error wraps ErrInvalid.
func (p *Payload) CheckTerms(raw []byte) error {
	for decoder := json.NewDecoder(bytes.NewReader(raw)); ; {
		var file struct {
			agreement
			Order *agreement `json:"order"`
		}
		err := decoder.Decode(&file)
		if errors.Is(err, io.EOF) {
			return invalid("the order had other terms")
		}
		if err != nil {
			return invalid("the terms are no JSON: %v", err)
		}
		agreed := &file.agreement
		if file.Order != nil {
			agreed = file.Order
		}
		sum, err := agreed.hash()
		if err != nil {
			return invalid("the terms: %v", err)
		}
		if sum == p.TermsSHA256 {
			return nil
		}
	}
}

// hash returns the hash of the terms, in hexadecimal.
func (a *agreement) hash() (string, error) {
	agreed := a.terms
	if agreed.OrderID == "" {
		agreed.OrderID, agreed.InputFiles = a.ID, a.InputAttachments
	}
	if agreed.InputFiles == nil {
		agreed.InputFiles = []termsFile{}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(agreed); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(separators.Replace(strings.TrimSuffix(text.String(), "\n"))))
	return hex.EncodeToString(sum[:]), nil
}

// CheckFile checks that a file is among the inputs or results of the order. Its error wraps ErrInvalid, unless the file cannot be read.
func (p *Payload) CheckFile(content io.Reader) error {
	hash := sha256.New()
	size, err := io.Copy(hash, content)
	if err != nil {
		return err
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	if !slices.ContainsFunc(slices.Concat(p.InputFiles, p.ResultFiles), func(f OrderFile) bool {
		return f.SHA256 == sum && f.SizeBytes == size
	}) {
		return invalid("no file of the order has the SHA-256 %s", sum)
	}
	return nil
}
