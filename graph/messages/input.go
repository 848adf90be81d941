package messages

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/page"
	"stoa/graph/platform/text"
	"stoa/graph/platform/wire"
)

// Sizes in bytes (§2.4).
const (
	nonceSize     = 24
	keySize       = 32
	minCiphertext = 16
	maxCiphertext = bounds.Ciphertext
)

// maxShownName is the maximum number of bytes of an unknown field's name that an answer repeats.
const maxShownName = 100

var errPlaintext = errors.New("looks like plaintext, which this endpoint never takes")

// SendInput is the body of a send, an encrypted envelope (§2.4). A nil field was not sent.
type SendInput struct {
	RecipientID        *string `json:"recipient_id"`
	ClientMessageID    *string `json:"client_message_id"`
	Nonce              *string `json:"nonce"`
	Ciphertext         *string `json:"ciphertext"`
	EncryptionVersion  *string `json:"encryption_version"`
	SenderPublicKey    *string `json:"sender_public_key"`
	RecipientPublicKey *string `json:"recipient_public_key"`

	// unknown holds the names of the body's other members.
	unknown []string
}

// field is a field of an envelope with its place in a SendInput.
type field struct {
	name string
	at   **string
}

func (in *SendInput) fields() []field {
	return []field{
		{"recipient_id", &in.RecipientID}, {"client_message_id", &in.ClientMessageID},
		{"nonce", &in.Nonce}, {"ciphertext", &in.Ciphertext}, {"encryption_version", &in.EncryptionVersion},
		{"sender_public_key", &in.SenderPublicKey}, {"recipient_public_key", &in.RecipientPublicKey},
	}
}

// plaintext holds the names of members in which a client that does not encrypt may send its text.
var plaintext = []string{"text", "body", "message", "content", "plaintext"}

// DecodeBody reads a body; Check later checks its fields in the order of §2.4. It returns invalid_envelope if the body is not a
// JSON object.
func (in *SendInput) DecodeBody(raw []byte) error {
	var members map[string]wire.Raw
	err := wire.Unmarshal(raw, &members)
	if refused, ok := errors.AsType[*wire.Error](err); ok {
		return in.BlameBody(refused)
	}
	if err != nil {
		return err
	}
	for _, f := range in.fields() {
		if value, sent := members[f.name]; sent {
			// A non-string becomes the empty string, which every field rejects.
			s, _ := wire.Text(value)
			*f.at = &s
			delete(members, f.name)
		}
	}
	in.unknown = slices.Sorted(maps.Keys(members))
	return nil
}

// BlameBody returns invalid_envelope for a body that cannot be read.
func (SendInput) BlameBody(refused *wire.Error) *fault.Error {
	return fault.Body(fault.InvalidEnvelope, refused)
}

// envelope is a checked SendInput.
type envelope struct {
	recipientID, clientMessageID               uuid.UUID
	nonce, ciphertext, senderKey, recipientKey []byte
}

// Check checks an envelope in the order of §2.4: invalid_envelope for its two ids, encrypted_envelope_required if it is not
// encrypted, unsupported_encryption for another version, invalid_envelope for the rest. Each fault names every wrong field; the
// fault of an id also names the fields that show that the envelope is not encrypted.
func (in SendInput) Check() (envelope, error) {
	var e envelope
	wrong := input.New()
	e.recipientID = wrong.ID("recipient_id", in.RecipientID)
	e.clientMessageID = wrong.ID("client_message_id", in.ClientMessageID)
	code := fault.EncryptedEnvelopeRequired
	if len(wrong.Fields) > 0 {
		code = fault.InvalidEnvelope
	}
	for _, f := range in.fields() {
		if *f.at == nil {
			wrong.Add(f.name, input.ErrRequired)
		}
	}
	for _, name := range in.unknown {
		if slices.Contains(plaintext, name) {
			wrong.Add(name, errPlaintext)
		}
	}
	if err := wrong.Fault(code); err != nil {
		return envelope{}, err
	}
	if *in.EncryptionVersion != Version {
		return envelope{}, fault.Field(fault.UnsupportedEncryption, "encryption_version", "must be "+Version)
	}
	if len(in.unknown) > 0 {
		first := in.unknown[0]
		known := page.Map(in.fields(), func(f field) string { return f.name })
		wrong.Add(strings.ToValidUTF8(first[:min(len(first), maxShownName)], ""), errors.New(wire.NoField(known)))
	}
	e.nonce = readBytes(wrong, "nonce", *in.Nonce, nonceSize, nonceSize)
	e.ciphertext = readBytes(wrong, "ciphertext", *in.Ciphertext, minCiphertext, maxCiphertext)
	e.senderKey = readBytes(wrong, "sender_public_key", *in.SenderPublicKey, keySize, keySize)
	e.recipientKey = readBytes(wrong, "recipient_public_key", *in.RecipientPublicKey, keySize, keySize)
	return e, wrong.Fault(fault.InvalidEnvelope)
}

func readBytes(wrong input.Fields, name, sent string, least, most int) []byte {
	b, err := text.Base64(sent, least, most)
	wrong.Add(name, err)
	return b
}

// DialogInput is the query of a dialog (§4.5).
type DialogInput struct {
	// Peer is the friend; it is required.
	Peer page.Param `query:"peer" json:"-"`
	// Before is the last message of the previous page.
	Before page.Param `query:"before" json:"-"`
}

// Check returns invalid_id unless peer is one UUID and before, if sent, is one too.
func (in DialogInput) Check() (of input.List, err error) {
	peer, err := page.ID("peer", in.Peer)
	if err != nil {
		return of, err
	}
	if of.Before, err = page.ID("before", in.Before); err != nil {
		return of, err
	}
	if peer == nil {
		return of, fault.Field(fault.InvalidID, "peer", input.ErrRequired.Error())
	}
	of.Of = *peer
	return of, nil
}
