package server

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"stoa/graph/operator"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/web"
)

const (
	signInPath = "/sign-in"
	// codesPath makes a one-time code for signInPath.
	codesPath   = signInPath + "/codes"
	signOutPath = "/sign-out"
	// plainCookie is the name of the session's cookie over http. Over https it is secureCookie: browsers accept that name only if
	// the cookie is Secure and valid for this host and all its paths. So no other host of the domain and no page over http can
	// replace it.
	plainCookie  = "stoa_operator"
	secureCookie = "__Host-" + plainCookie
	// maxForm is the maximum size in bytes of the sign-in form, maxKept of a form that was sent without a session.
	maxForm, maxKept = 16 << 10, 1 << 20
)

// signedIn returns the operator whose session came with the request. ok is false if there is no session, or if it belongs to
// another token or has expired. Faults: forbidden if another site made the browser send a change, which every GraphQL request may
// be.
func (s *server) signedIn(r *http.Request) (v viewer.Viewer, ok bool, err error) {
	sent := r.CookiesNamed(s.cookieName(r))
	if len(sent) != 1 {
		return viewer.Viewer{}, false, nil
	}
	claims, ok := s.sessions.verify(sent[0].Value, time.Now())
	if !ok {
		return viewer.Viewer{}, false, nil
	}
	if !isRead(r) && !sameOrigin(r) {
		return viewer.Viewer{}, false, fault.New(fault.Forbidden).Say("Another site may not act with an operator's session.")
	}
	v, err = s.identify(r.Context(), string(claims.OwnToken), cmp.Or(r.Header.Get(operator.NameHeader), claims.Name),
		&claims.SignOuts, r.Header.Get(operator.RefreshHeader) == "")
	if fault.CodeOf(err) == fault.Forbidden { // an operator with a token has this name now
		err = fault.New(fault.Unauthorized)
	}
	return v, err == nil, err
}

// signInForm holds the data of the sign-in page.
type signInForm struct {
	Name, Next, Complaint string
	// Code replaces the token; empty for none.
	Code string
	// Kept are the fields of a form that was sent without a session; nil for none.
	Kept url.Values
}

// showSignIn answers with the sign-in page.
func (s *server) showSignIn(w http.ResponseWriter, r *http.Request) {
	sent := r.URL.Query()
	showSignInForm(w, http.StatusOK, signInForm{Next: s.localPath(sent.Get("next")), Code: sent.Get("code")})
}

// signIn turns the operator's token, or a one-time code, into a session. Only the form spends a code: opening its link, as a
// preview does, spends nothing.
func (s *server) signIn(w http.ResponseWriter, r *http.Request) {
	if !sameOrigin(r) {
		s.fail(w, r, fault.New(fault.Forbidden).Say("Another site may not sign an operator in."))
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		s.fail(w, r, web.BodyError(err))
		return
	}
	code := r.PostForm.Get("code")
	form := signInForm{Name: r.PostForm.Get("name"), Next: s.localPath(r.PostForm.Get("next")), Code: code}
	v, known, err := s.operatorOf(r.Context(), strings.TrimSpace(r.PostForm.Get("token")), form.Name)
	if err == nil && !known && code != "" {
		v, known, err = s.spend(r.Context(), code, form.Name)
	}
	if err != nil {
		wrong := faultOf(r.Context(), err)
		if form.Complaint = wrong.Text(); wrong.Fields[operator.NameHeader] != "" {
			form.Complaint = "The name " + wrong.Fields[operator.NameHeader] + "."
		}
		web.ErrorHeaders(w.Header(), wrong)
		showSignInForm(w, wrong.Status(), form)
		return
	}
	if !known {
		known := faultOf(r.Context(), s.wrongToken(r))
		form.Complaint, form.Code = "This is not an operator's token.", ""
		if code != "" {
			form.Complaint = "This link is used up or too old. Sign in with your token, or make another link."
		}
		if known.Code == fault.RateLimited {
			form.Complaint += " Too many wrong ones have come from this address within a minute."
		}
		web.ErrorHeaders(w.Header(), known)
		showSignInForm(w, known.Status(), form)
		return
	}
	s.setCookie(w, r, s.sessions.issue(v, time.Now()), int(sessionLifetime.Seconds()))
	redirect(w, form.Next)
}

// spend ends a one-time code and returns its operator. If the name is refused, the code stays valid.
func (s *server) spend(ctx context.Context, code, name string) (v viewer.Viewer, known bool, err error) {
	if v, err = s.identify(ctx, "", name, nil, true); err != nil {
		return v, false, err
	}
	own, known := s.Codes.spend(code, time.Now())
	if own != "" {
		v, err = s.identify(ctx, own, "", nil, true)
	}
	return v, known, err
}

// signOut removes the session from the browser, and ends all sessions of the operator's own token. It needs no session.
func (s *server) signOut(w http.ResponseWriter, r *http.Request) {
	if !sameOrigin(r) {
		s.fail(w, r, fault.New(fault.Forbidden).Say("Another site may not sign an operator out."))
		return
	}
	s.setCookie(w, r, "", -1)
	if v, ok, _ := s.signedIn(r); ok && v.OwnToken != "" {
		ctx, cancel := db.Bounded(r.Context(), db.RequestTimeout)
		defer cancel()
		if err := s.Graph.Operator.Leave(ctx, v.OwnToken); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	redirect(w, signInPath)
}

// setCookie keeps the session for this host only, hidden from scripts and other sites. A cookie set over https is never sent over
// plain HTTP. Without https, as on the loopback interface, the cookie cannot be Secure.
func (s *server) setCookie(w http.ResponseWriter, r *http.Request, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // it is Secure over https
		Name: s.cookieName(r), Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, Secure: web.Secure(r, s.TrustedProxies), SameSite: http.SameSiteStrictMode,
	})
}

// cookieName is the name of the session's cookie on the scheme that the client uses.
func (s *server) cookieName(r *http.Request) string {
	if web.Secure(r, s.TrustedProxies) {
		return secureCookie
	}
	return plainCookie
}

func redirect(w http.ResponseWriter, path string) {
	w.Header().Set("Location", path)
	w.WriteHeader(http.StatusSeeOther)
}

// localPath returns the path to open after the sign-in: next if it is on this listener, else the index.
func (s *server) localPath(next string) string {
	parsed, err := url.Parse(next)
	if err != nil || parsed.Scheme != "" || parsed.Host != "" {
		return "/"
	}
	if _, ours := findMount(s.Mounts, parsed.Path); !ours && (s.pages == nil || strings.HasPrefix(parsed.Path, signInPath)) {
		return "/"
	}
	if path := parsed.RequestURI(); strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") {
		return path
	}
	return "/"
}

// sameOrigin reports whether a page of this listener made a browser send the request. SameSite does not suffice: it ignores
// ports, so requests of any page on the same host carry the cookie. Browsers send Sec-Fetch-Site, or only Origin if the
// connection is not trustworthy; a request with neither is from an old browser or from no browser.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	origin, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && origin.Host != "" && origin.Host == r.Host
}

// isRead reports whether a request changes nothing.
func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// sessionLifetime is how long a browser stays signed in.
const sessionLifetime = 12 * time.Hour

// sessionPurpose distinguishes the key from other keys that are derived from the token.
const sessionPurpose = "stoa operator session 2"

// sessions issues and verifies the sessions of operators. It is safe for concurrent use.
//
// A session is the value of a cookie: the operator's name, the expiry, the hash of the own token, and an HMAC over these under a
// key derived from the installation's token. Nothing is stored, so every process with this token accepts the others' sessions,
// and a new token ends all sessions. A value reveals no token. Each request looks up the own token, so revoking it ends its
// sessions, and so does signing out, which the database counts. The token of the installation belongs to several people: signing
// out removes its session from the browser only, and a copy stays valid until it expires.
type sessions struct{ key []byte }

// newSessions derives the key. Without a token there are no sessions: verify refuses every value.
func newSessions(token string) sessions {
	if token == "" {
		return sessions{}
	}
	derived := hmac.New(sha256.New, []byte(token))
	derived.Write([]byte(sessionPurpose))
	return sessions{key: derived.Sum(nil)}
}

// sessionClaims are the content of a session.
type sessionClaims struct {
	Name    string `json:"n"`
	Expires int64  `json:"e"`
	// OwnToken is the hash of the own token that opened the session, SignOuts the operator's number of sign-outs at that time;
	// both are empty for the installation's token.
	OwnToken []byte `json:"t,omitempty"`
	SignOuts int    `json:"s,omitempty"`
}

var sessionEncoding = base64.RawURLEncoding

// issue returns a new session of an operator, as the value of a cookie.
func (s sessions) issue(v viewer.Viewer, now time.Time) string {
	raw, err := json.Marshal(sessionClaims{v.Name, now.Add(sessionLifetime).Unix(), []byte(v.OwnToken), v.SignOuts})
	if err != nil {
		panic(err) // a text and a number always marshal
	}
	payload := sessionEncoding.EncodeToString(raw)
	return payload + "." + sessionEncoding.EncodeToString(s.sign(payload))
}

// verify returns the content of a session. ok is false if it was made with another token or has expired.
func (s sessions) verify(value string, now time.Time) (claims sessionClaims, ok bool) {
	payload, signature, found := strings.Cut(value, ".")
	sent, err := sessionEncoding.DecodeString(signature)
	if !found || err != nil || len(s.key) == 0 || !hmac.Equal(sent, s.sign(payload)) {
		return sessionClaims{}, false
	}
	raw, err := sessionEncoding.DecodeString(payload)
	if err != nil || json.Unmarshal(raw, &claims) != nil || now.Unix() >= claims.Expires {
		return sessionClaims{}, false
	}
	return claims, true
}

func (s sessions) sign(payload string) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(payload))
	return mac.Sum(nil)
}

// codeLifetime is how long a sign-in code is valid. At most maxCodes codes are valid at once; a new one ends the oldest.
const (
	codeLifetime = 5 * time.Minute
	maxCodes     = 16
)

// SignInCodes are one-time codes; the zero value has none. Each signs in one browser without a token. They exist only in the
// memory of this process: no other process accepts them, and a restart ends them. It is safe for concurrent use.
type SignInCodes struct {
	mu    sync.Mutex
	codes []signInCode
}

type signInCode struct {
	text    string
	expires time.Time
	// own is the hash of the operator's own token; empty for the installation's token.
	own string
}

// Path makes a code and returns the path of the page that spends it. own is the hash of the operator's own token, or empty for
// the installation's operator.
func (c *SignInCodes) Path(now time.Time, own string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	code := signInCode{rand.Text(), now.Add(codeLifetime), own}
	c.codes = append(c.codes[max(0, len(c.codes)-maxCodes+1):], code)
	return signInPath + "?code=" + code.text
}

// spend ends a code and returns the hash of the own token for which it was made. good reports whether the code was valid.
func (c *SignInCodes) spend(sent string, now time.Time) (own string, good bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, code := range c.codes {
		if code.text == sent { // 128 random bits, so the comparison's timing helps no attacker
			c.codes = append(c.codes[:i:i], c.codes[i+1:]...)
			return code.own, now.Before(code.expires)
		}
	}
	return "", false
}

// makeCode answers with the path of a page that signs in. The caller needs an operator's token; a session does not suffice.
func (s *server) makeCode(w http.ResponseWriter, r *http.Request) {
	if len(r.Header.Values("Authorization")) == 0 {
		s.fail(w, r, fault.New(fault.Unauthorized))
		return
	}
	v, err := s.authenticateOperator(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"path": s.Codes.Path(time.Now(), v.OwnToken), "expires_in": int(codeLifetime.Seconds())})
}
