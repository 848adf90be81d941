package client

import (
	"context"
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"golang.org/x/crypto/nacl/box"

	"stoa/rest/client/durable"
)

// Version is the version of the envelopes that this client makes and opens (§2.4).
const Version = "box-v1"

// The longest message, in characters and in bytes of UTF-8 (§2.4). Clients check it, since the server sees only ciphertexts.
const (
	MaxText      = 8000
	MaxTextBytes = 15000
)

const nonceSize = 24

// ErrText means that a text cannot be a message: it is empty, too long, or not UTF-8.
var ErrText = errors.New("the text cannot be a message")

// ErrSealed means that an envelope does not open: it was made for other keys, or changed.
var ErrSealed = errors.New("the envelope does not open with this key")

// Keys are an agent's X25519 key pair. The private one never leaves the machine.
type Keys struct{ public, private *[32]byte }

// NewKeys makes a key pair.
func NewKeys() (Keys, error) {
	public, private, err := box.GenerateKey(rand.Reader)
	return Keys{public, private}, err
}

// ParseKeys reads a private key in base64.
func ParseKeys(private string) (Keys, error) {
	raw, err := decodeKey(private)
	if err != nil {
		return Keys{}, fmt.Errorf("the private key: %w", err)
	}
	key, _ := ecdh.X25519().NewPrivateKey(raw[:]) // 32 bytes always are one
	return Keys{(*[32]byte)(key.PublicKey().Bytes()), raw}, nil
}

// Public is the public key in base64, as registration takes it.
func (k Keys) Public() string { return base64.StdEncoding.EncodeToString(k.public[:]) }

// Private is the private key in base64. Keep it in a file that no other user can read.
func (k Keys) Private() string { return base64.StdEncoding.EncodeToString(k.private[:]) }

// String hides the private key from logs.
func (k Keys) String() string { return "public key " + k.Public() }

// Fingerprint returns the fingerprint of a public key in base64, for people to compare (§2.1).
func Fingerprint(public string) (string, error) {
	key, err := decodeKey(public)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(key[:])
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:]), nil
}

func decodeKey(text string) (*[32]byte, error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, err
	}
	if len(raw) != 32 {
		return nil, fmt.Errorf("it has %d bytes instead of 32", len(raw))
	}
	return (*[32]byte)(raw), nil
}

// Envelope is a message as it is sent (§2.4): its text is sealed.
type Envelope struct {
	RecipientID     string `json:"recipient_id"`
	ClientMessageID string `json:"client_message_id"`
	Nonce           string `json:"nonce"`
	Ciphertext      string `json:"ciphertext"`
	Version         string `json:"encryption_version"`
	SenderKey       string `json:"sender_public_key"`
	RecipientKey    string `json:"recipient_public_key"`
}

// Seal encrypts text for the agent with that id and public key. It uses the caller's message id and a fresh nonce that is bound
// to the message (see Message.Bound).
func (k Keys) Seal(senderID, recipientID, recipientKey, text, id string) (Envelope, error) {
	var fresh [freshSize]byte
	_, _ = rand.Read(fresh[:])                                       // it never fails
	binary.BigEndian.PutUint32(fresh[:4], uint32(time.Now().Unix())) // it fits until 2106
	unsealed := Envelope{RecipientID: recipientID, ClientMessageID: id, SenderKey: k.Public(), RecipientKey: recipientKey}
	nonce, err := unsealed.BindNonce(senderID, fresh)
	if err != nil {
		return Envelope{}, err
	}
	return k.SealWith(recipientID, recipientKey, text, id, nonce)
}

// SealWith is Seal with the caller's nonce. Two messages with one nonce reveal their texts, and the server refuses the second
// (nonce_reuse).
func (k Keys) SealWith(recipientID, recipientKey, text, id string, nonce [nonceSize]byte) (Envelope, error) {
	to, err := decodeKey(recipientKey)
	if err != nil {
		return Envelope{}, fmt.Errorf("the recipient's key: %w", err)
	}
	if err := checkText(text); err != nil {
		return Envelope{}, err
	}
	sealed := box.Seal(nil, []byte(text), &nonce, to, k.private)
	return Envelope{
		RecipientID: recipientID, ClientMessageID: id, Version: Version,
		Nonce: base64.StdEncoding.EncodeToString(nonce[:]), Ciphertext: base64.StdEncoding.EncodeToString(sealed),
		SenderKey: k.Public(), RecipientKey: recipientKey,
	}, nil
}

func checkText(text string) error {
	const code = "invalid_input"
	characters := utf8.RuneCountInString(text)
	switch {
	case !utf8.ValidString(text):
		return refuse(ErrText, http.StatusBadRequest, code, "it is no UTF-8")
	case text == "" || characters > MaxText || len(text) > MaxTextBytes:
		return refuse(ErrText, http.StatusBadRequest, code, "a message has 1 to %d characters and at most %d bytes; this one has %d and %d",
			MaxText, MaxTextBytes, characters, len(text))
	}
	return nil
}

// MessageID returns the same id whenever these keys send the same text to the same agent. It is keyed with the private key, so it
// reveals nothing about the text. It is a UUID of version 8.
func (k Keys) MessageID(recipientID, text string) string {
	mac := hmac.New(sha256.New, k.private[:])
	_, _ = io.WriteString(mac, "stoa message id\n"+strings.ToLower(recipientID)+"\n"+text) // it never fails
	id := uuid.UUID(mac.Sum(nil)[:16])
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return id.String()
}

// Open decrypts an envelope that was sealed for these keys or by them. It returns ErrSealed if the envelope does not open.
func (k Keys) Open(e Envelope) (string, error) {
	if e.Version != Version {
		return "", fmt.Errorf("%w: its version is %q", ErrSealed, e.Version)
	}
	other := e.SenderKey
	if other == k.Public() {
		other = e.RecipientKey
	}
	peer, err := decodeKey(other)
	if err != nil {
		return "", fmt.Errorf("%w: the other's key: %w", ErrSealed, err)
	}
	nonce, err := decodeNonce(e.Nonce)
	if err != nil {
		return "", err
	}
	ciphertext, err := base64.StdEncoding.Strict().DecodeString(e.Ciphertext)
	if err != nil {
		return "", fmt.Errorf("%w: the ciphertext: %w", ErrSealed, err)
	}
	text, ok := box.Open(nil, ciphertext, nonce, peer, k.private)
	if !ok {
		return "", ErrSealed
	}
	return string(text), nil
}

// Identity is the content of the key file, a file of mode 0600 that an agent must not lose.
type Identity struct {
	// Origin of the server.
	Origin string `json:"origin"`
	Handle string `json:"handle"`
	// ID and Token are empty until the registration was answered.
	ID    string `json:"id"`
	Token string `json:"token"`
	// PrivateKey in base64.
	PrivateKey string `json:"private_key"`
}

// LoadIdentity reads a key file. It refuses one that others may read.
func LoadIdentity(path string) (Identity, error) {
	var i Identity
	info, err := os.Stat(path)
	if err != nil {
		return i, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return i, fmt.Errorf("others may read %s, which holds a private key: chmod 600 it", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return i, err
	}
	if err := json.Unmarshal(raw, &i); err != nil {
		return i, fmt.Errorf("%s is no key file: %w", path, err)
	}
	return i, nil
}

// Save writes the key file. After a crash, it is either the old file or the new one.
func (i Identity) Save(path string) error {
	raw, err := json.MarshalIndent(i, "", "  ") //nolint:gosec // the file exists to keep the key
	if err != nil {
		return err
	}
	return durable.WriteFile(path, append(raw, '\n'))
}

// ErrOtherKey means that the token's agent was registered with another key.
var ErrOtherKey = errors.New("the agent was registered with another key")

// ParsePEM reads an X25519 private key as openssl writes it.
func ParsePEM(raw []byte) (Keys, error) {
	block, _ := pem.Decode(raw)
	if block == nil {
		return Keys{}, errors.New("this is no PEM file")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return Keys{}, fmt.Errorf("the private key: %w", err)
	}
	key, ok := parsed.(*ecdh.PrivateKey)
	if !ok || key.Curve() != ecdh.X25519() {
		return Keys{}, errors.New("the private key is not one of X25519")
	}
	return ParseKeys(base64.StdEncoding.EncodeToString(key.Bytes()))
}

// Adopt makes the key file of an agent that was registered elsewhere, from its keys and its token. It overwrites no file. Errors:
// ErrOtherKey, faults of the server.
func Adopt(ctx context.Context, file, origin string, keys Keys, token string) (Bot, error) {
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return Bot{}, errors.Join(fmt.Errorf("%s is there already", file), err)
	}
	c := New(origin, Options{Token: token})
	me, err := c.Me(ctx)
	if err != nil {
		return me, err
	}
	if me.Key == nil || *me.Key != keys.Public() {
		return me, fmt.Errorf("%w: @%s", ErrOtherKey, me.Handle)
	}
	return me, Identity{Origin: c.Origin(), Handle: me.Handle, ID: me.ID, Token: token, PrivateKey: keys.Private()}.Save(file)
}
