#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""page_hands.py PAGE PROFILE: whom the plots of a page tell their numbers

In chromium: over how many plots a pointer gets a box with numbers, and how many
figures open the table of their numbers by Tab and Return alone.
"""
import sys

from page_cost import Browser

PLACES = [(x / 10, y) for x in range(2, 9) for y in (0.3, 0.5, 0.7)]
TIP = '''new Promise(done => requestAnimationFrame(() =>
    requestAnimationFrame(() => done(document.querySelectorAll("figure > svg")
        [%d].querySelector('g[aria-label="tip"] text')?.textContent ?? ""))))
'''
BOX = '''(() => {
    const plot = document.querySelectorAll("figure > svg")[%d];
    plot.scrollIntoView({ block: "center" });
    const { x, y, width, height } = plot.getBoundingClientRect();
    return { x, y, width, height };
})()'''
OPENED = '''[...document.querySelectorAll("figure")].filter(figure =>
    figure.querySelector("details[open] td")).length'''
CLOSED = '''document.activeElement.matches(
    "figure details:not([open]) > summary")'''


def tells(browser, session, plot):
    box = browser.value(session, BOX % plot)
    for x, y in PLACES:
        browser.ask('Input.dispatchMouseEvent', session, type='mouseMoved',
                    x=box['x'] + x * box['width'],
                    y=box['y'] + y * box['height'], pointerType='mouse')
        if any(c.isdigit() for c in browser.value(session, TIP % plot)):
            return True
    return False


def press(browser, session, key, code, **text):
    for kind in ('keyDown', 'keyUp'):
        browser.ask('Input.dispatchKeyEvent', session, type=kind, key=key,
                    code=key, windowsVirtualKeyCode=code, **text)


def main():
    page, profile = sys.argv[1:]
    browser = Browser(profile)
    session = browser.start()
    browser.load(session, page)
    figures = browser.value(session, 'document.querySelectorAll("figure").length')
    pointed = sum(tells(browser, session, plot) for plot in range(figures))
    browser.value(session, 'document.querySelectorAll("figure details")'
                  '.forEach(one => { one.open = false; })')
    for _ in range(100):
        press(browser, session, 'Tab', 9)
        if browser.value(session, CLOSED):
            press(browser, session, 'Enter', 13, text='\r')
    print(f'{figures} figures, {pointed} tell numbers to the pointer, '
          f'{browser.value(session, OPENED)} to the keys')
    browser.close()


main()
