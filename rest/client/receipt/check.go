package receipt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"stoa/rest/client/keylog"
)

type check struct {
	trust Trust
	// own are the keys inside the file.
	own   Keys
	found *Verified
	errs  []error
}

func (c *check) receipt(file *File) {
	var said Payload
	raw, ok := c.document(&file.Receipt.Document, receiptType, &said)
	if !ok {
		return
	}
	said.Raw = raw
	named := file.alone || (said.ID == file.Receipt.ID && said.OrderID == file.Receipt.OrderID)
	if said.Version != version || said.ID == "" || !named {
		c.errs = append(c.errs, invalid("the signed receipt is of another order, receipt or version"))
		return
	}
	c.found.Receipt = &said
	for i := range file.Receipt.Ratings {
		rating, ok := c.rating(&file.Receipt.Ratings[i])
		if !ok {
			continue
		}
		if !fits(rating, said) {
			c.errs = append(c.errs, invalid("the rating %s is not of this receipt", rating.ID))
			continue
		}
		c.found.Ratings = append(c.found.Ratings, rating)
	}
}

// fits reports whether a rating is of the receipt's order, by one participant about the other. The log may have been restarted
// between the two.
func fits(r Rating, p Payload) bool {
	return sameHost(r.Issuer, p.Issuer) && r.OrderID == p.OrderID && r.Receipt == p.ID &&
		((r.AuthorID == p.Customer.ID && r.SubjectID == p.Contractor.ID) || (r.AuthorID == p.Contractor.ID && r.SubjectID == p.Customer.ID))
}

func (c *check) rating(d *Document) (said Rating, ok bool) {
	if _, ok := c.document(d, ratingType, &said); !ok {
		return said, false
	}
	if said.Version != version || said.ID == "" || said.Stars < 1 || said.Stars > 5 {
		c.errs = append(c.errs, invalid("the document is no rating"))
		return said, false
	}
	return said, true
}

// document checks signature and proof of a document, and decodes its payload. It reports whether the payload can be read.
func (c *check) document(d *Document, kind string, payload any) (raw []byte, ok bool) {
	signed, err := parse(d.JWS)
	if err == nil {
		err = signed.fits(kind)
	}
	if err != nil {
		c.errs = append(c.errs, invalid("%v", err))
		return nil, false
	}
	key, trusted := c.trust.Keys[signed.header.KeyID]
	if !trusted {
		c.errs = append(c.errs, finding(ErrUnvouched, "its key %s is none of yours", signed.header.KeyID))
		key = c.own[signed.header.KeyID]
	}
	if key.Public != nil && !signed.by(key.Public) {
		c.errs = append(c.errs, invalid("the signature is wrong"))
		return nil, false
	}
	if err := json.Unmarshal(signed.payload, payload); err != nil {
		c.errs = append(c.errs, invalid("the payload: %v", err))
		return nil, false
	}
	var origin struct {
		Issuer string `json:"iss"`
	}
	_ = json.Unmarshal(signed.payload, &origin) // it was decoded before
	if trusted {
		c.announced(signed.header.KeyID, key, origin.Issuer)
	}
	head, err := c.logged(d, origin.Issuer)
	if err != nil {
		c.errs = append(c.errs, err)
	}
	if head.Origin != "" {
		c.found.Heads = append(c.found.Heads, head)
	}
	return signed.payload, true
}

// announced checks that the issuer's log announces the signing key: a key that a server shows to one reader only is in no log.
// Without a trusted log key this cannot be checked, and the document is unvouched.
func (c *check) announced(id string, key Key, issuer string) {
	if len(c.trust.Logs) == 0 {
		return
	}
	entry, err := keylog.KeyEntry(keylog.PurposeReceipts, key.Public)
	if err == nil {
		_, err = c.included(entry, key.Index, key.Proof, issuer)
	}
	switch {
	case err == nil:
	case errors.Is(err, ErrUnlogged) && key.Proof != nil: // a witness is missing
		c.errs = append(c.errs, err)
	default:
		c.errs = append(c.errs, finding(ErrUnvouched, "the key log does not prove its key %s: %v", id, err))
	}
}

func (c *check) logged(d *Document, issuer string) (keylog.Witnessed, error) {
	if d.Proof != nil && d.Index != nil && len(d.Salt) != keylog.SaltSize {
		return keylog.Witnessed{}, invalid("the proof is of another entry")
	}
	return c.included(keylog.ReceiptEntry(d.Salt, d.JWS), d.Index, d.Proof, issuer)
}

// included checks that an entry is in the log of an issuer. It returns the head, if a trusted key signed it.
func (c *check) included(entry keylog.Entry, index *int64, text *string, issuer string) (none keylog.Witnessed, err error) {
	if text == nil || index == nil {
		return none, finding(ErrUnlogged, "the file has no proof; fetch it again later")
	}
	proof, malformed := keylog.ParseProof([]byte(*text))
	checkpoint, _, _ := bytes.Cut(proof.Checkpoint, []byte("\n\n"))
	head, err := keylog.ParseCheckpoint(string(checkpoint) + "\n")
	switch {
	case malformed != nil:
		err = malformed
	case err != nil:
	case proof.Index != *index:
		err = errors.New("the proof is of another entry")
	case !sameHost(head.Origin, issuer):
		err = fmt.Errorf("the proof is of the log %s, and the issuer is %s", head.Origin, issuer)
	default:
		err = keylog.CheckIncluded(head, proof.Index, entry, proof.Hashes)
	}
	if err != nil {
		return none, invalid("%v", err)
	}
	for _, log := range c.trust.Logs {
		witnessed, err := proof.Check(entry, log, c.trust.Witnesses...)
		if errors.Is(err, keylog.ErrUnsigned) {
			continue
		}
		if err != nil {
			return none, invalid("%v", err)
		}
		for _, witness := range c.trust.Witnesses {
			if _, signed := witnessed.By[witness.Name()]; !signed {
				return witnessed, finding(ErrUnlogged, "the witness %s has not signed the head of the log", witness.Name())
			}
		}
		return witnessed, nil
	}
	return none, finding(ErrUnvouched, "the head of the log %s has no signature by a log key of yours", head.Origin)
}

// sameHost reports whether two origins are of the log of one host, in any epoch.
func sameHost(one, other string) bool {
	host, _, err := keylog.HostOf(one)
	second, _, failed := keylog.HostOf(other)
	return err == nil && failed == nil && host == second
}

// separators undoes the escapes of encoding/json that canonical JSON does not use. It skips an escaped backslash of the text.
var separators = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029")

// CheckTerms checks that a receipt matches the terms in a file: the answer of GET /api/v1/orders/{id}, an order alone, or a JSON
// object with order_id, title, description, deadline, amount_minor, fee_bps and input_files. If the file has several orders, such
// as an archive's orders.jsonl, one must match. Its error wraps ErrInvalid.
func (p *Payload) CheckTerms(raw []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	for {
		var file map[string]any
		err := decoder.Decode(&file)
		if errors.Is(err, io.EOF) {
			return invalid("the order had other terms")
		}
		if err != nil {
			return invalid("the terms are no JSON: %v", err)
		}
		if order, inside := file["order"].(map[string]any); inside {
			file = order
		}
		if hashOfTerms(file) == p.TermsSHA256 {
			return nil
		}
	}
}

// hashOfTerms returns the hash of the terms of an order. Their members have the order of canonical JSON.
func hashOfTerms(order map[string]any) string {
	agreed := members(order, "amount_minor", "deadline", "description", "fee_bps", "input_files", "order_id", "title")
	if agreed["order_id"] == nil {
		agreed["order_id"], agreed["input_files"] = order["id"], order["input_attachments"]
	}
	files, _ := agreed["input_files"].([]any)
	named := []any{}
	for _, file := range files {
		file, _ := file.(map[string]any)
		named = append(named, members(file, "media_type", "sha256", "size_bytes"))
	}
	agreed["input_files"] = named
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(agreed) //nolint:errchkjson // it was decoded before
	sum := sha256.Sum256([]byte(separators.Replace(strings.TrimSuffix(text.String(), "\n"))))
	return hex.EncodeToString(sum[:])
}

// members returns some members of an object, null for missing ones.
func members(object map[string]any, names ...string) map[string]any {
	some := make(map[string]any)
	for _, name := range names {
		some[name] = object[name]
	}
	return some
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
