// Package web holds the code that the listeners of agents and operators share: client address, bearer token, request id, reading
// of bodies, the headers of every answer, and the error body (§7).
//
// Headers of a proxy about the client count if the connection comes from a trusted network (STOA_TRUSTED_PROXIES). The package
// has no state; everything is safe for concurrent use.
package web

import (
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// ReplayedHeader names the header that marks a stored answer that is sent again (§1.7).
const ReplayedHeader = "Idempotent-Replayed"

// BoundHeader names the header that marks the answer to a repeated upload whose file is in use (§4.8).
const BoundHeader = "Attachment-Bound"

// RequestIDHeader names the header that carries a request's id, in its canonical form.
const RequestIDHeader = "X-Request-Id"

var requestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

// Header values that all answers share; they must not be changed.
var (
	nosniff = []string{"nosniff"}
	noStore = []string{"no-store"}
)

// Headers sets an answer's request id (the client's own if it is well-formed) and the security headers, which a handler may
// replace: no content sniffing, no caching. It returns the id. r is nil if there is no request.
func Headers(h http.Header, r *http.Request) (id string) {
	if r != nil {
		id = r.Header.Get(RequestIDHeader)
	}
	if id == "" || !requestID.MatchString(id) {
		id = uuid.NewString()
	}
	h[RequestIDHeader] = []string{id}
	h["X-Content-Type-Options"] = nosniff
	h["Cache-Control"] = noStore
	return id
}

// Recover calls failed with the value of a handler's panic, on the stack of the panic, so that a defect causes an answer instead
// of a closed connection. It passes on http.ErrAbortHandler, which closes the connection on purpose.
func Recover(next http.Handler, failed func(w http.ResponseWriter, r *http.Request, cause any)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch cause := recover(); cause {
			case nil:
			case http.ErrAbortHandler:
				panic(cause)
			default:
				failed(w, r, cause)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// Bearer returns the token of the only Authorization header (§5); the scheme's case does not matter.
func Bearer(header http.Header) (string, bool) {
	sent := header.Values("Authorization")
	if len(sent) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(sent[0], " ")
	token = strings.TrimLeft(token, " ")
	return token, ok && token != "" && strings.EqualFold(scheme, "Bearer")
}

// Weigh returns the weight that an Accept header gives a type by its most specific range, and the rank of this range: 3 for the
// type itself, 2 for its family, 1 for */*, 0 if no range matches (RFC 9110 §12.5.1).
func Weigh(accept []string, candidate string) (weight float64, rank int) {
	family, _, _ := strings.Cut(candidate, "/")
	ranks := map[string]int{candidate: 3, family + "/*": 2, "*/*": 1}
	for sent := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		media, params, err := mime.ParseMediaType(sent)
		if err != nil || ranks[media] <= rank {
			continue
		}
		weight, rank = 1, ranks[media]
		if q, sent := params["q"]; sent {
			weight, err = strconv.ParseFloat(q, 64)
			if err != nil || !(weight >= 0 && weight <= 1) {
				weight = 0
			}
		}
	}
	return weight, rank
}

// Precondition evaluates the preconditions of a GET or HEAD for a representation with a strong ETag, in the order of RFC 9110
// §13.2.2. It returns precondition_failed if one is not met, and whether the client already has the representation. modified is
// the time of the last change; if it is unknown, because each request generates the representation, pass the current time.
//
// It ignores If-Modified-Since: the ETag is more exact, and no answer has Last-Modified.
func Precondition(r *http.Request, tag string, modified time.Time) (known bool, err error) {
	failed := false
	if named := r.Header.Values("If-Match"); len(named) > 0 {
		failed = !ETagMatches(named, tag, false)
	} else if since, err := http.ParseTime(r.Header.Get("If-Unmodified-Since")); err == nil {
		failed = modified.Truncate(time.Second).After(since) // HTTP dates have whole seconds
	}
	if failed {
		return false, fault.New(fault.PreconditionFailed)
	}
	return ETagMatches(r.Header.Values("If-None-Match"), tag, true), nil
}

// ETagMatches reports whether a header such as If-None-Match names a strong tag. weakly also accepts its weak form.
func ETagMatches(header []string, tag string, weakly bool) bool {
	for sent := range strings.SplitSeq(strings.Join(header, ","), ",") {
		sent = strings.TrimSpace(sent)
		if weakly {
			sent = strings.TrimPrefix(sent, "W/")
		}
		if sent == tag || sent == "*" {
			return true
		}
	}
	return false
}

// RequireJSON returns unsupported_media_type unless the headers declare JSON in UTF-8 without Content-Encoding (§1.3).
func RequireJSON(header http.Header) error {
	types := header.Values("Content-Type")
	if len(types) == 0 {
		return fault.New(fault.UnsupportedMediaType).Say("Send a JSON object as the body, with Content-Type: application/json.")
	}
	if header.Get("Content-Encoding") != "" || len(types) != 1 {
		return fault.New(fault.UnsupportedMediaType)
	}
	media, params, err := mime.ParseMediaType(types[0])
	charset, named := params["charset"]
	if err != nil || media != JSONType || (named && !strings.EqualFold(charset, "utf-8")) {
		return fault.New(fault.UnsupportedMediaType)
	}
	return nil
}

// ReadBody reads a request body of at most limit bytes. It returns payload_too_large for a larger body, without reading it if
// Content-Length is too large, or else an error of BodyError.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, fault.New(fault.PayloadTooLarge)
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return nil, BodyError(err)
	}
	return raw, nil
}

// BodyError returns the fault of a request body that could not be read: payload_too_large, the fault of a body that does not
// arrive in time (package httpserver), or a *wire.Error if the body is cut off or malformed, for which a route may have its own
// code.
func BodyError(err error) error {
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return fault.New(fault.PayloadTooLarge)
	}
	if known := new(fault.Error); errors.As(err, &known) && known.Code != fault.InvalidInput {
		return known
	}
	return &wire.Error{Kind: wire.Syntax, Reason: "it ends early or does not follow its transfer coding"}
}

// Origins holds the origins whose pages may use a listener from a browser.
type Origins struct {
	own     string
	allowed []string
}

// NewOrigins makes Origins from the listener's own origin, such as https://stoa.example, and other allowed origins, in which one
// * matches anything. own may be empty.
func NewOrigins(own string, allowed []string) Origins {
	o := Origins{allowed: allowed}
	if u, err := url.Parse(own); err == nil && u.Host != "" {
		o.own = normalOrigin(u)
	}
	return o
}

// Foreign reports whether a request comes from a browser page of an origin that is not allowed. It ignores the request's Host:
// with DNS rebinding, an attacker's page sends its own name in both headers. On a connection to a loopback address, pages of all
// loopback names of this machine are allowed, too.
func (o Origins) Foreign(r *http.Request) bool {
	local, known := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	here := known && local.IP.IsLoopback()
	for _, origin := range r.Header.Values("Origin") {
		from, err := url.Parse(origin)
		own := err == nil && from.Host != "" && (normalOrigin(from) == o.own || here && IsLoopback(from.Hostname()))
		if !own && !o.isAllowed(strings.ToLower(origin)) {
			return true
		}
	}
	return false
}

// IsLoopback reports whether a host is a loopback address or localhost, without asking the resolver.
func IsLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.Unmap().IsLoopback()
}

// normalOrigin formats an origin as browsers do: in lower case and without the scheme's default port.
func normalOrigin(u *url.URL) string {
	host, port := strings.ToLower(u.Host), map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	return u.Scheme + "://" + strings.TrimSuffix(host, port)
}

func (o Origins) isAllowed(origin string) bool {
	for _, pattern := range o.allowed {
		before, after, wild := strings.Cut(strings.ToLower(pattern), "*")
		if origin == before+after && !wild {
			return true
		}
		if wild && len(origin) >= len(before)+len(after) && strings.HasPrefix(origin, before) && strings.HasSuffix(origin, after) {
			return true
		}
	}
	return false
}

// ClientAddress returns the address for the limits per address, in the form of Subscriber. It follows X-Forwarded-For from the
// right as long as each hop is a trusted proxy. If the connection has no IP address, as in a test, it returns the connection's
// host name.
func ClientAddress(r *http.Request, trusted []netip.Prefix) string {
	peer, ok := parse(r.RemoteAddr)
	if !ok {
		return host(r.RemoteAddr)
	}
	if !Trusts(trusted, peer) {
		return Subscriber(peer)
	}
	forwarded := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(forwarded) {
		before, ok := parse(strings.TrimSpace(hop))
		if !ok || !Trusts(trusted, peer) {
			break
		}
		peer = before
	}
	return Subscriber(peer)
}

// Subscriber returns the part of an address that counts as one client: an IPv4 address, or the /64 of an IPv6 address, the usual
// prefix of one subscriber.
func Subscriber(address netip.Addr) string {
	address = address.Unmap().WithZone("")
	if address.Is6() {
		return netip.PrefixFrom(address, 64).Masked().String()
	}
	return address.String()
}

// Secure reports whether the client sent the request over https: to this server, or to a trusted proxy, according to
// X-Forwarded-Proto. In a chain of proxies the first value counts.
func Secure(r *http.Request, trusted []netip.Prefix) bool {
	if r.TLS != nil {
		return true
	}
	peer, ok := parse(r.RemoteAddr)
	if !ok || !Trusts(trusted, peer) {
		return false
	}
	first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	return strings.EqualFold(strings.TrimSpace(first), "https")
}

// Trusts reports whether an address belongs to a trusted proxy.
func Trusts(trusted []netip.Prefix, address netip.Addr) bool {
	return slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(address.Unmap().WithZone("")) })
}

// parse reads an address with or without a port, as some proxies add it.
func parse(text string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(strings.Trim(host(text), "[]"))
	return address, err == nil
}

// host returns text without its port.
func host(text string) string {
	if name, _, err := net.SplitHostPort(text); err == nil {
		return name
	}
	return text
}
