package server

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/web"
	"stoa/graph/server/session"
)

const (
	signInPath  = "/sign-in"
	signOutPath = "/sign-out"
	// plainCookie is the session's over http. Over https it is secureCookie: browsers accept a cookie of that name only if it is Secure,
	// for this host and all its paths, so no other host of the domain and no page over http can put one in its place.
	plainCookie  = "stoa_operator"
	secureCookie = "__Host-" + plainCookie
	// maxForm is the size of a sign-in in bytes.
	maxForm = 16 << 10
)

// signedIn finds the operator whose session came with the request. A session of another token, or one that has expired, is
// none; forbidden if another site made the browser send a change, which every GraphQL request may be.
func (s *server) signedIn(r *http.Request) (v viewer.Viewer, ok bool, err error) {
	sent := r.CookiesNamed(s.cookieName(r))
	if len(sent) != 1 {
		return viewer.Viewer{}, false, nil
	}
	name, ok := s.sessions.Read(sent[0].Value, time.Now())
	if !ok {
		return viewer.Viewer{}, false, nil
	}
	if !reads(r) && !sameOrigin(r) {
		return viewer.Viewer{}, false, fault.New(fault.Forbidden).Say("Another site may not act with an operator's session.")
	}
	v, err = operatorOf(r.Header, name)
	return v, err == nil, err
}

// signInForm is what the sign-in page shows and sends.
type signInForm struct {
	Name, Next, Complaint string
}

// askToken is the sign-in page by its own address.
func (s *server) askToken(w http.ResponseWriter, r *http.Request) {
	show(w, http.StatusOK, "sign-in.html", signInForm{Next: s.local(r.URL.Query().Get("next"))})
}

// signIn turns the operator's token into a session.
func (s *server) signIn(w http.ResponseWriter, r *http.Request) {
	if !sameOrigin(r) {
		s.fail(w, r, fault.New(fault.Forbidden).Say("Another site may not sign an operator in."))
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		s.fail(w, r, unreadable(err))
		return
	}
	form := signInForm{Name: r.PostForm.Get("name"), Next: s.local(r.PostForm.Get("next"))}
	name, err := text.Line(form.Name, 0, maxOperatorName)
	if err != nil {
		form.Complaint = "The name " + err.Error() + "."
		show(w, http.StatusBadRequest, "sign-in.html", form)
		return
	}
	if !s.isOperator(strings.TrimSpace(r.PostForm.Get("token"))) {
		known := faultOf(r.Context(), s.throttle.refuse(w, r, s.client(r)))
		form.Complaint = "This is not the operator's token."
		if known.Code == fault.RateLimited {
			form.Complaint += " Too many wrong ones have come from this address within a minute."
		}
		web.ErrorHeaders(w.Header(), known)
		show(w, known.Status(), "sign-in.html", form)
		return
	}
	s.setCookie(w, r, s.sessions.Make(name, time.Now()), int(session.Lifetime.Seconds()))
	seeOther(w, form.Next)
}

// signOut takes the session from the browser. It needs none: who has lost it is signed out already.
func (s *server) signOut(w http.ResponseWriter, r *http.Request) {
	if !sameOrigin(r) {
		s.fail(w, r, fault.New(fault.Forbidden).Say("Another site may not sign an operator out."))
		return
	}
	s.setCookie(w, r, "", -1)
	seeOther(w, signInPath)
}

// setCookie is the one place that says how the session is kept: for this host only, out of reach of scripts, sent by no other site, and
// never over plain HTTP if it was made over https. Where there is no https, as on the loopback interface, it cannot be Secure.
func (s *server) setCookie(w http.ResponseWriter, r *http.Request, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // it is Secure where it can be
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

func seeOther(w http.ResponseWriter, path string) {
	w.Header().Set("Location", path)
	w.WriteHeader(http.StatusSeeOther)
}

// local returns where to go after the sign-in: a page of ours, or the index.
func (s *server) local(next string) string {
	parsed, err := url.Parse(next)
	if err != nil || parsed.Scheme != "" || parsed.Host != "" {
		return "/"
	}
	if _, ours := find(s.Mounts, parsed.Path); !ours {
		return "/"
	}
	return parsed.RequestURI()
}
