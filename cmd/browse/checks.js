// Functions that the browser tests call on a page. This is one expression: an object of functions that return plain data.
({
  // layout lists the faults of the page's layout.
  layout() {
    const root = document.documentElement;
    const name = (element) => `<${element.localName} class="${element.className}"> ${element.textContent.trim().slice(0, 40)}`;
    const wrong = [];
    if (root.scrollWidth > root.clientWidth) {
      const scrolls = (element) => element !== document.body && getComputedStyle(element).overflowX !== 'visible';
      const within = (element) => element && element !== root && (scrolls(element) || within(element.parentElement));
      const wide = [...document.querySelectorAll('body *')]
        .filter((element) => element.getBoundingClientRect().right > root.clientWidth && !within(element.parentElement));
      wrong.push(`it scrolls sideways: ${root.scrollWidth} > ${root.clientWidth}: ${wide.slice(0, 3).map(name).join('; ')}`);
    }
    for (const list of document.querySelectorAll('.scroll:has(> .stacked)')) {
      if (innerWidth < 640 && list.scrollWidth > list.clientWidth) wrong.push(`a list runs past the edge: ${name(list)}`);
    }
    for (const element of document.querySelectorAll('body *')) {
      const style = getComputedStyle(element);
      const clips = ['hidden', 'clip'].includes(style.overflowX) && style.position !== 'absolute';
      if (clips && element.scrollWidth > element.clientWidth + 1) {
        wrong.push(`it is cut off: ${name(element)}`);
      }
      const scrolls = ['auto', 'scroll'].includes(style.overflowY) && element.localName !== 'textarea';
      if (scrolls && element.scrollHeight > element.clientHeight + 1) wrong.push(`it does not scroll with the page: ${name(element)}`);
      const text = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
      if (text && !element.checkVisibility() && !element.closest('[hidden], .text-only, details:not([open]), option, script, svg')) {
        wrong.push(`a text is hidden: ${name(element)}`);
      }
    }
    for (const text of document.querySelectorAll('.prose')) { // a text of an agent must not look like a part of the site
      const size = (element) => parseFloat(getComputedStyle(element).fontSize), style = getComputedStyle(text);
      if (!parseFloat(style.borderLeftWidth) || !parseFloat(style.paddingLeft)) wrong.push(`a text of an agent has no rule: ${name(text)}`);
      for (const heading of text.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
        if (size(heading) > size(text)) wrong.push(`a heading of an agent is large: ${name(heading)}`);
      }
    }
    for (const heading of document.querySelectorAll('h2')) {
      const [at, rest] = heading.getClientRects(), [next] = heading.nextElementSibling?.getClientRects() || [];
      if (rest || at && next && next.bottom < at.top) wrong.push(`a heading stands apart from its part: ${name(heading)}`);
    }
    const pen = document.createElement('canvas').getContext('2d');
    for (const field of document.querySelectorAll('input[placeholder]')) {
      const style = getComputedStyle(field), room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      pen.font = style.font;
      if (pen.measureText(field.placeholder).width > room) wrong.push(`a placeholder is cut off: ${field.placeholder}`);
    }
    for (const card of document.querySelectorAll('.work, .offer, .person')) { // cards of a row have the same height
      const box = card.getBoundingClientRect(), parts = [...card.children].map((part) => part.getBoundingClientRect());
      let filled = box.top, gap = 0;
      for (const part of parts.sort((one, other) => one.top - other.top)) {
        gap = Math.max(gap, part.top - filled);
        filled = Math.max(filled, part.bottom);
      }
      if (Math.max(gap, box.bottom - filled) > box.height / 2) wrong.push(`half of a card is empty: ${name(card)}`);
    }
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const found = (from, length) => {
        range.setStart(node, from);
        range.setEnd(node, from + length);
        return [...range.getClientRects()].filter((piece) => piece.width > 0);
      };
      const broken = (text) => found(text.index, text[0].length).some((piece, _, all) => piece.top >= all[0].bottom);
      const parent = node.parentElement;
      if (!parent.closest('code, pre, .prose')) {
        for (const number of node.data.matchAll(/(?<![\w.-])\d[\d\u202f.]{0,14}(?![\w-])/g)) {
          if (broken(number)) wrong.push(`a number is broken: ${number[0]}`);
        }
      }
      if (parent.closest('.prose td, .prose th')) {
        for (const word of node.data.matchAll(/(?<!\w)[a-z]{1,12}(?!\w)/gi)) {
          if (broken(word)) wrong.push(`a word of a table is broken: ${word[0]}`);
        }
      }
      for (const handle of node.data.matchAll(/(?<![\w.])@\w+/g)) {
        const pieces = found(handle.index, handle[0].length);
        const [at] = found(handle.index, 1), [end] = found(handle.index + handle[0].length - 1, 1);
        if (parent.closest('.handle') && at && end && at.top < end.bottom && at.left > end.left) wrong.push(`a handle is turned round: ${handle[0]}`);
        let block = node.parentElement;
        while (getComputedStyle(block).display.startsWith('inline')) block = block.parentElement;
        const fits = pieces.reduce((sum, piece) => sum + piece.width, 0) <= block.clientWidth || block.closest('table');
        if (fits && pieces.some((piece) => piece.top >= pieces[0].bottom)) wrong.push(`a handle is broken: ${handle[0]}`);
      }
    }
    for (const picture of document.images) {
      if (picture.complete && picture.naturalWidth === 0) wrong.push(`a picture is broken: ${picture.src}`);
      const box = picture.getBoundingClientRect();
      const scrolls = element => element && (['auto', 'scroll'].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
      if (box.right > root.clientWidth + 1 && !scrolls(picture.parentElement)) wrong.push(`a picture is too wide: ${picture.src}`);
    }
    return wrong;
  },

  // enlarged lists the pictures that are shown much larger than their largest file on the page.
  async enlarged() {
    const wrong = [];
    for (const picture of [...document.images].filter((found) => !found.src.endsWith('.svg'))) {
      const file = new Image();
      file.src = (picture.srcset || picture.src).split(', ').pop().split(' ')[0];
      await file.decode().catch(() => {}); // layout reports a broken picture
      const x = picture.width / file.naturalWidth, y = picture.height / file.naturalHeight;
      const times = {'scale-down': 1, contain: Math.min(x, y)}[getComputedStyle(picture).objectFit] || Math.max(x, y);
      if (times > 1.5 && file.naturalWidth) wrong.push(`a picture is enlarged ${times} times: ${picture.src}`);
    }
    return wrong;
  },

  // form lists the faults of the document.
  form() {
    const wrong = [];
    const count = (selector, expected) => {
      const found = document.querySelectorAll(selector).length;
      if (found !== expected) wrong.push(`${found} instead of ${expected} ${selector}`);
    };
    count('link[rel~=stylesheet]', 1);
    count('h1', 1);
    count('main', 1);
    count('style, script:not([src]), [style], iframe, object, embed, base', 0);
    count('main main, h1 h1, [onclick], [onerror], [onload], [onmouseover]', 0);
    if (document.compatMode !== 'CSS1Compat') wrong.push('quirks mode');
    if (!document.documentElement.lang) wrong.push('no language');
    if (!document.title.trim()) wrong.push('no title');
    if ('pwned' in window) wrong.push('a text ran as a script');
    for (const link of document.querySelectorAll('a[href^="#"]')) {
      if (!document.getElementById(decodeURIComponent(link.hash.slice(1)))) wrong.push(`there is no ${link.hash}`);
    }
    return wrong;
  },

  // luminance returns the brightness of the page's background, from 0 to 1.
  luminance() {
    const colour = [document.body, document.documentElement].map((element) => getComputedStyle(element).backgroundColor)
      .find((found) => found !== 'rgba(0, 0, 0, 0)');
    if (!colour) return matchMedia('(prefers-color-scheme: dark)').matches ? 0 : 1; // the browser's own background
    const [red, green, blue] = colour.match(/[\d.]+/g).map(Number);
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
  },

  // links returns the addresses of the page's own origin that the page links to or loads.
  links() {
    const found = new Set();
    for (const element of document.querySelectorAll('a[href], link[href], img[src], script[src], form[method=get]')) {
      const address = element.href || element.src || element.action;
      const elsewhere = address && address.split('#')[0] !== location.href.split('#')[0];
      if (elsewhere && new URL(address).origin === location.origin) found.add(address);
    }
    return [...found];
  },

  // stops returns the number of elements that the Tab key reaches.
  stops() {
    const groups = new Set();
    let alone = 0;
    for (const element of document.querySelectorAll('a[href], button, input, textarea, select, summary, [tabindex]')) {
      const hidden = !element.checkVisibility() || element.disabled || element.type === 'hidden' || element.tabIndex < 0;
      if (hidden) continue;
      if (element.type === 'radio') groups.add(element.name);
      else alone += 1;
    }
    return alone + groups.size;
  },

  // unfocus makes the next Tab reach the first element.
  unfocus() {
    const root = document.documentElement;
    root.tabIndex = -1;
    root.focus();
    root.removeAttribute('tabindex');
    scrollTo(0, 0);
    window.stoaFocused = null;
  },

  // focused returns the element with the focus and its faults; name is empty if no element has the focus.
  focused() {
    const element = document.activeElement;
    if (!element || element === document.body || element === document.documentElement) {
      return {name: '', within: false, skip: false, above: false, wrong: []};
    }
    // In such an input the day, the month, the hour, … and the calendar's button are further stops of the Tab key.
    const parts = ['date', 'datetime-local', 'month', 'time', 'week'];
    if (element === window.stoaFocused && parts.includes(element.type)) {
      return {name: element.name, within: true, skip: false, above: false, wrong: []};
    }
    const name = `<${element.localName}> ${(element.textContent || element.name || '').trim().slice(0, 40)}`;
    const wrong = [];
    const style = getComputedStyle(element);
    const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
    if (!element.matches(':focus-visible') || !ring && style.boxShadow === 'none') wrong.push('the focus is not shown');
    // A link that wraps may begin with an empty piece at the end of a line.
    const box = [...element.getClientRects()].find((piece) => piece.width >= 1 && piece.height >= 1);
    if (!box) {
      wrong.push('it has no size');
    } else {
      const middle = (from, to, end) => (Math.max(from, 0) + Math.min(to, end)) / 2; // of the part within the window
      const x = middle(box.left, box.right, innerWidth), y = middle(box.top, box.bottom, innerHeight);
      const seen = document.elementFromPoint(x, y);
      if (!seen) wrong.push(`it is outside of the window: ${Math.round(x)}, ${Math.round(y)}`);
      else if (!element.contains(seen) && !seen.contains(element)) wrong.push(`it is covered by <${seen.localName}>`);
    }
    const before = window.stoaFocused;
    const precedes = (one, other) => Boolean(one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING);
    if (before && before.isConnected && !precedes(before, element)) {
      wrong.push('the focus goes back');
    }
    window.stoaFocused = element;
    const above = precedes(element, document.querySelector('main')) && !element.closest('main');
    return {name, within: false, skip: element.matches('a[href^="#"]'), above, wrong};
  },
})
