package webhooks

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
	"github.com/google/uuid"

	"stoa/ent/webhook"
	"stoa/graph/keylog"
	"stoa/graph/platform/slack"
	"stoa/graph/platform/web"
)

const (
	// maxAnswer is the number of bytes that are read of an answer's body, maxAnswerHeader of its header.
	maxAnswer       = 4 << 10
	maxAnswerHeader = 16 << 10
	// userAgent identifies the sender to endpoints.
	userAgent = "Stoa-Webhooks/1.0"
)

// attemptTimeout bounds a whole attempt.
var attemptTimeout = slack.Of(15 * time.Second)

// The reasons why an attempt fails (§4.12).
const (
	reasonStatus    = "status"
	reasonRedirect  = "redirect"
	reasonGone      = "gone"
	reasonTimeout   = "timeout"
	reasonForbidden = "forbidden_address"
	reasonTLS       = "tls"
	reasonNoAnswer  = "no_answer"
	// reasonPaused: the webhook was paused during the attempt because its agent's tokens ended, so the answer has no effect.
	reasonPaused = "paused"
)

// SenderConfig restricts the destinations of deliveries.
type SenderConfig struct {
	// AllowLoopback allows the loopback, also over http, if the address names it.
	AllowLoopback bool
	// Resolver resolves names; nil means the system's.
	Resolver *net.Resolver
	// Roots holds the trusted certificate authorities; nil means the system's.
	Roots *x509.CertPool
	// Timeout bounds an attempt; 0 means 15 s.
	Timeout time.Duration
}

// Sender posts deliveries. Each delivery uses its own connection, whose address is checked after the name is resolved, when the
// connection is made: only global unicast addresses that no registry reserves are allowed. It follows no redirects and uses no
// proxy of the environment. It is safe for concurrent use.
type Sender struct {
	config           SenderConfig
	public, loopback http.RoundTripper
}

// NewSender makes a Sender.
func NewSender(c SenderConfig) *Sender {
	if c.Timeout == 0 {
		c.Timeout = attemptTimeout
	}
	guard := ssrf.New(ssrf.WithAnyPort())
	return &Sender{config: c, public: c.transport(guard.Safe), loopback: c.transport(onlyLoopback)}
}

// transport makes a transport that calls check with each address before a connection to it is made.
func (c SenderConfig) transport(check func(network, address string, _ syscall.RawConn) error) http.RoundTripper {
	dialer := &net.Dialer{Resolver: c.Resolver, Control: check, KeepAlive: -1}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12},
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxAnswerHeader,
	}
}

var errNotLoopback = errors.New("not an address of the loopback")

// onlyLoopback refuses every address except the loopback.
func onlyLoopback(_, address string, _ syscall.RawConn) error {
	if at, err := netip.ParseAddrPort(address); err != nil || !at.Addr().IsLoopback() {
		return errNotLoopback
	}
	return nil
}

// answer is the result of an attempt.
type answer struct {
	// status is nil if there was no answer.
	status *int
	// reason is why the attempt failed; empty if the endpoint has acknowledged.
	reason string
	// retryAfter is the pause that the endpoint has asked for.
	retryAfter time.Duration
	took       time.Duration
}

// post sends a body. It returns an error only if ctx is done, because then nothing is known about the endpoint.
func (s *Sender) post(ctx context.Context, address string, header http.Header, body io.Reader) (answer, error) {
	began := time.Now()
	within, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	a, err := s.exchange(within, address, header, body)
	if err != nil {
		if ctx.Err() != nil {
			return a, ctx.Err()
		}
		a.reason = reasonOf(err)
	}
	a.took = time.Since(began)
	return a, nil
}

func (s *Sender) exchange(ctx context.Context, address string, header http.Header, body io.Reader) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, body)
	if err != nil {
		return answer{}, err
	}
	request.Header = header
	request.Header.Set("User-Agent", userAgent)
	transport, err := s.route(request.URL)
	if err != nil {
		return answer{}, err
	}
	response, err := transport.RoundTrip(request) // it follows no redirect and keeps no cookie
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	// The status alone decides. Reading a little lets the endpoint finish; the rest is discarded.
	_, _ = io.CopyN(io.Discard, response.Body, maxAnswer)
	a := answer{status: &response.StatusCode}
	switch {
	case *a.status/100 == 2:
		return a, nil
	case *a.status/100 == 3:
		a.reason = reasonRedirect
	case *a.status == http.StatusGone:
		a.reason = reasonGone
	default:
		a.reason = reasonStatus
	}
	a.retryAfter = parseRetryAfter(response.Header.Get("Retry-After"), time.Now())
	return a, nil
}

// route returns the transport for an address. The rule for addresses may have become stricter since the address was set.
func (s *Sender) route(to *url.URL) (http.RoundTripper, error) {
	switch {
	case s.config.AllowLoopback && web.IsLoopback(to.Hostname()):
		return s.loopback, nil
	case to.Scheme == "https":
		return s.public, nil
	default:
		return nil, errNotLoopback
	}
}

// reasonOf returns why there was no answer. It reveals nothing about a forbidden address, nor whether a name exists: a
// name without an address, or with a slow resolution, gets the same reason as a name of a private network.
func reasonOf(err error) string {
	var (
		timeout    net.Error
		unresolved *net.DNSError
		untrusted  *tls.CertificateVerificationError
		alert      tls.AlertError
		garbled    tls.RecordHeaderError
	)
	switch {
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedNetwork), errors.Is(err, ssrf.ErrInvalidHostPort),
		errors.Is(err, errNotLoopback), errors.As(err, &unresolved):
		return reasonForbidden
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return reasonTimeout
	case errors.As(err, &untrusted), errors.As(err, &alert), errors.As(err, &garbled):
		return reasonTLS
	default:
		return reasonNoAnswer
	}
}

// The prefixes by which Standard Webhooks distinguishes keys.
const (
	secretPrefix = "whsec_"
	publicPrefix = "whpk_"
)

const (
	// secretSize is the size of a webhook's secret in bytes.
	secretSize = 32
	// rotationOverlap is how long after a rotation deliveries are also signed with the previous secret.
	rotationOverlap = 24 * time.Hour
)

// Keys holds the server's signing keys as a JSON Web Key Set (§4.12).
type Keys struct {
	Keys []Key `json:"keys"`
}

// Key is one public key of the server.
type Key struct {
	keylog.JWK

	// PublicKey is the same key in the format of Standard Webhooks.
	PublicKey string `json:"public_key"`
}

// PublishedKeys returns the keys with which receivers verify signatures v1a.
func (a *API) PublishedKeys() Keys {
	key := a.signingKey()
	return Keys{[]Key{{keylog.NewJWK(key), publicPrefix + base64.StdEncoding.EncodeToString(key[ed25519.SeedSize:])}}}
}

// signingKey returns the server's key; each process of an installation derives the same.
func (a *API) signingKey() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(keylog.Derive(a.Key, "stoa webhooks ed25519", ed25519.SeedSize))
}

// secret returns the bytes of a webhook's secret after a number of rotations.
func (a *API) secret(id uuid.UUID, number int) []byte {
	return keylog.Derive(a.Key, "stoa webhook secret "+id.String()+" "+strconv.Itoa(number), secretSize)
}

// secretText returns the secret in the form for its agent.
func (a *API) secretText(id uuid.UUID, number int) string {
	return secretPrefix + base64.StdEncoding.EncodeToString(a.secret(id, number))
}

// sign returns the value of the header webhook-signature.
func (a *API) sign(d *attempt, body []byte) string {
	content := []byte(d.EventID.String() + "." + strconv.FormatInt(d.Now.Unix(), 10) + "." + string(body))
	if d.Signing == webhook.SigningV1a {
		return "v1a," + base64.StdEncoding.EncodeToString(ed25519.Sign(a.signingKey(), content))
	}
	numbers := []int{d.SecretNumber}
	if d.RotatedAt != nil && d.Now.Before(d.RotatedAt.Add(rotationOverlap)) {
		numbers = append(numbers, d.SecretNumber-1)
	}
	signatures := make([]string, len(numbers))
	for i, number := range numbers {
		mac := hmac.New(sha256.New, a.secret(d.WebhookID, number))
		mac.Write(content)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signatures, " ")
}
