#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""page_cost.py PAGE PROFILE: what drawing a page costs its thread, in ms

Processor time of chromium's main thread for the page, which other load on the
machine does not stretch as it does the time on the wall: tasks of all kinds
(scripts, styles, layout) from the opening of the page until it is loaded.
"""
import json
import os
import subprocess
import sys

COMMAND = ['chromium', '--headless', '--no-sandbox', '--disable-gpu',
           '--remote-debugging-pipe', 'about:blank']


class Browser:
    """DevTools' protocol: JSON, each message ended by a NUL; fds 3 and 4."""

    def __init__(self, profile):
        ours, theirs = os.pipe(), os.pipe()
        self.last = 0
        self.rest = b''
        self.answers, self.orders = theirs[0], ours[1]
        # Where the pipes' own ends are 3 and 4 dup2 would lose one.
        ends = [os.dup(fd) for fd in (ours[0], theirs[1])]
        high = [fd + 100 for fd in ends]
        for end, fd in zip(ends, high):
            os.dup2(end, fd)
        self.child = subprocess.Popen(
            ['bash', '-c', f'exec "$@" 3<&{high[0]} 4>&{high[1]}', 'bash',
             *COMMAND, f'--user-data-dir={profile}'],
            pass_fds=high, stderr=subprocess.DEVNULL)
        for fd in (ours[0], theirs[1], *ends, *high):
            os.close(fd)

    def message(self):
        while b'\0' not in self.rest:
            more = os.read(self.answers, 65536)
            if not more:
                sys.exit('page_cost: chromium ended')
            self.rest += more
        text, self.rest = self.rest.split(b'\0', 1)
        return json.loads(text)

    def until(self, fits):
        while True:
            message = self.message()
            if 'error' in message:
                sys.exit(f'page_cost: {message["error"]}')
            if fits(message):
                return message

    def ask(self, method, session=None, **parameters):
        self.last += 1
        order = {'id': self.last, 'method': method, 'params': parameters}
        if session:
            order['sessionId'] = session
        os.write(self.orders, json.dumps(order).encode() + b'\0')
        number = self.last
        return self.until(lambda m: m.get('id') == number).get('result')

    def start(self):
        target = self.ask('Target.createTarget', url='about:blank')
        session = self.ask('Target.attachToTarget', flatten=True,
                           targetId=target['targetId'])['sessionId']
        self.ask('Page.enable', session)
        return session

    def load(self, session, page):
        os.write(self.orders, json.dumps(
            {'id': 0, 'method': 'Page.navigate', 'sessionId': session,
             'params': {'url': f'file://{os.path.abspath(page)}'}}
        ).encode() + b'\0')
        self.until(lambda m: m.get('method') == 'Page.loadEventFired')

    def value(self, session, expression):
        return self.ask('Runtime.evaluate', session, expression=expression,
                        returnByValue=True, awaitPromise=True
                        )['result'].get('value', 0)

    def close(self):
        self.ask('Browser.close')
        self.child.wait()


def task_ms(browser, session):
    metrics = browser.ask('Performance.getMetrics', session)['metrics']
    return next(1e3 * m['value'] for m in metrics
                if m['name'] == 'TaskDuration')


def main():
    page, profile = sys.argv[1:]
    browser = Browser(profile)
    session = browser.start()
    browser.ask('Performance.enable', session, timeDomain='threadTicks')
    browser.load(session, page)
    drawn = browser.value(session, 'document.documentElement.dataset.figures')
    print(f'{task_ms(browser, session):.0f}', drawn)
    browser.close()


if __name__ == '__main__':
    main()
